// Reads static RV64 programs.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace soc {

class Program {
  public:
    // Throws std::runtime_error for a file that is no such program.
    explicit Program(const std::string& path) : path_(path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error(path + ": cannot be read");
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
        const bool is_program = bytes_.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes_.data(), ELFMAG, SELFMAG) == 0 &&
                                bytes_[EI_CLASS] == ELFCLASS64 && header().e_machine == EM_RISCV &&
                                header().e_type == ET_EXEC;
        if (!is_program) throw std::runtime_error(path + ": is no static ELF file for RV64");
    }

    uint64_t entry() const { return header().e_entry; }

    // Gives each loaded piece: its physical address, its bytes and how many zeros follow them.
    void each_segment(const std::function<void(uint64_t, const char*, uint64_t, uint64_t)>& place) const {
        for (unsigned index = 0; index < header().e_phnum; ++index) {
            const auto segment = at<Elf64_Phdr>(header().e_phoff + uint64_t{index} * header().e_phentsize);
            if (segment.p_type != PT_LOAD) continue;
            if (segment.p_offset + segment.p_filesz > bytes_.size()) throw std::runtime_error(path_ + ": ends too soon");
            place(segment.p_paddr, bytes_.data() + segment.p_offset, segment.p_filesz, segment.p_memsz - segment.p_filesz);
        }
    }

  private:
    std::string path_;
    std::vector<char> bytes_;

    template <class Part>
    Part at(uint64_t offset) const {
        if (offset + sizeof(Part) > bytes_.size()) throw std::runtime_error(path_ + ": ends too soon");
        Part part;
        std::memcpy(&part, bytes_.data() + offset, sizeof part);
        return part;
    }

    Elf64_Ehdr header() const { return at<Elf64_Ehdr>(0); }
};

}  // namespace soc
