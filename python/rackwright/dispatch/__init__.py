"""The dispatcher in front of real services: its configuration, its process, its reports."""

from rackwright.dispatch.configuration import Configuration, read_configuration
from rackwright.dispatch.run import Dispatcher

__all__ = ["Configuration", "Dispatcher", "read_configuration"]
