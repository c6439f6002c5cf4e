//! A switch with scripted neighbours.

mod capture;
mod common;
mod reference;
mod switch;
