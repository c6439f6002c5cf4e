"""Bounded proofs of blocks of single layers, each as a unit has it: stream, operation, entropy, lz77."""

from __future__ import annotations

from bounded_proofs import Claim, Proofs, Source, needs_yosys

pytestmark = needs_yosys

SOURCES = {
    "head_queue": Source.of("nic", {}),
    "skid_buffer": Source.of("snappy-compress", {}),
    "hash_table_arbiter": Source.of("snappy-compress", {}),
    "hash_table_generation": Source.of("snappy-compress", {"hash-log2": 9, "hash-banks": 32}),
    "completion_writer": Source.of("stream-copy", {"port-bytes": 16, "stream-bytes": 16}),
    "bit_packer": Source.of("deflate-compress", {}),
}

CLAIMS = (
    Claim("head_queue", 1, "no more entries come out than went in", 12, 20, 12),
    Claim("head_queue", 2, "entries come out as they went in, in order", 10, 12, 12),
    Claim("head_queue", 3, "the count is that of the entries that are held", 12, 20, 12),
    Claim("head_queue", 4, "what was held in the cycle before is offered", 12, 20, 12),
    Claim("head_queue", 5, "entries are taken while there is room behind the head", 18, 24, 20),
    Claim("head_queue", 6, "settled says that the head stays", 12, 16, 12),
    Claim("skid_buffer", 1, "no more entries come out than went in", 12, 15, 12),
    Claim("skid_buffer", 2, "entries come out as they went in, in order", 12, 13, 12),
    Claim("skid_buffer", 3, "what is held is offered", 12, 15, 12),
    Claim("skid_buffer", 4, "an entry is taken unless two are held", 12, 15, 12),
    Claim("hash_table_arbiter", 1, "of those that ask for a bank, the last one wins", 2, 3, 2),
    Claim("hash_table_arbiter", 2, "who wins a bank has asked for it", 2, 3, 2),
    Claim("hash_table_arbiter", 3, "the row of a bank is that of its winner", 2, 3, 2),
    Claim("hash_table_arbiter", 4, "a position is served when its set is the one that is read", 2, 3, 2),
    Claim("hash_table_generation", 1, "no entry of an earlier call is found", 215, 420, 215),
    Claim("hash_table_generation", 2, "nothing is cleared while the table is used", 215, 420, 20),
    Claim("hash_table_generation", 3, "what memory holds at reset is void", 40, 80, 20),
    Claim("hash_table_generation", 4, "a new call waits two cycles, the first one for all rows", 60, 100, 40),
    Claim("completion_writer", 1, "a write is asked for while none is awaited", 12, 13, 12),
    Claim("completion_writer", 2, "only the record's bytes are written, then the flag's", 12, 20, 12),
    Claim("completion_writer", 3, "the record says how the operation ended", 12, 13, 12),
    Claim("completion_writer", 4, "the flag says it too, and whether memory refused the record", 12, 13, 12),
    Claim("completion_writer", 5, "it is over when every write was answered", 12, 13, 12),
    Claim("completion_writer", 6, "it is over in the end", 12, 13, 12),
    Claim("completion_writer", 7, "faulted says whether memory refused a write", 12, 13, 12),
    Claim("bit_packer", 1, "a bit comes out where it belongs", 7, 8, 10),
    Claim("bit_packer", 2, "bits that fill a byte are zeros", 8, 9, 10),
    Claim("bit_packer", 3, "no bit comes out that was not given", 9, 10, 10),
    Claim("bit_packer", 4, "what was aligned comes out in the end", 9, 10, 10),
    Claim("bit_packer", 5, "busy until what was aligned came out", 9, 10, 10),
    Claim("bit_packer", 6, "not busy in the end", 10, 14, 10),
)


class TestBlocks(Proofs):
    """For any entries, words and bits, whatever its neighbours do."""

    claims = CLAIMS
    sources = SOURCES
