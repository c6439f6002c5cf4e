"""Linux on a simulated server: images from the distribution's packages, and booting them."""
