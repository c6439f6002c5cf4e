"""Designs in SystemVerilog that people bring: read by slang, for what a manifest says of them."""
