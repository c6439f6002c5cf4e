"""The site, made by `./rw docs`: every page of this checkout, from where it is, so that links hold as they are."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))

project = "Rackwright"
author = "the authors of Rackwright"
copyright = "the authors of Rackwright, Apache License 2.0"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "rackwright.documentation.commands",
]

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "engine/**.md",
    "hardware/**.md",
    "software/**.md",
    "validation/**.md",
]
exclude_patterns = [".*", "out", "python", "examples", "**/target", "**/node_modules"]

# Links go to headings as GitHub names them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# A link to a file that is no page is one to the file.
suppress_warnings = ["myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
# Docstrings have code between single backticks, as in Markdown.
default_role = "code"

# Most blocks are commands and what they print.
highlight_language = "none"

html_theme = "furo"
html_title = "Rackwright"
# Browsers ask for an icon where a page names none.
html_favicon = "images/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#c25a1b", "color-brand-content": "#2f6db0"},
    "dark_css_variables": {"color-brand-primary": "#e88a4a", "color-brand-content": "#7fb0e6"},
}
html_domain_indices = False
