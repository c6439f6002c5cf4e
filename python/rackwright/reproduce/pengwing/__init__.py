"""Pengwing: programs and units that talk through queues in shared memory."""
