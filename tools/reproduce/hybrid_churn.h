/// What the applications of a small device do to files: create, delete, overwrite at random, rewrite and read, on the hybrid paper's board.
///
/// Idea       The traces of section 5.3 are not public. This is a seeded load in their place. Small files (4 to 64 KB) and large ones (512 KB to 4
///            MB) are created and deleted around a level of use. Large files are overwritten in random records of 8 KB. Both kinds are read. Every
///            choice follows from the seed and from sizes, so that all systems see the same calls.
/// Invariant  At most `level` bytes of clusters are in use. Every write() is a metadata write, too. The records of a file have 8 to 64 KB.
/// Cost       A million pages written take about a second of CPU.
/// Source     Kim et al. 2008, section 5.3: "small/large size file creation/deletion, random read/write and sequential read/write".
#pragma once

#include <vector>

#include "base/random.h"
#include "tools/reproduce/hybrid_volume.h"

namespace flashlab {

/// What the paper does not say of its files. With records of 4 to 32 KB fewer words of a metadata sector change than in figure 3, with 64 KB more.
struct FileShape {
    std::uint32_t small_of_ten = 9;       ///< files of 4 to 64 KB; the others have 0.5 to 4 MB
    std::uint32_t smallest_record = 8192; ///< of a file's writes
    std::uint32_t record_doublings = 4;   ///< sizes of records, each twice the one before; a file has one of them
};

class FileChurn {
public:
    /// `level`: bytes that files may take.
    FileChurn(HybridVolume& board, std::uint64_t level, std::uint64_t seed, FileShape shape = {})
        : board_{board}, level_{level}, random_{seed}, shape_{shape} {}

    /// Makes the directories, and files up to the level.
    [[nodiscard]] std::expected<void, std::string> fill();
    /// Goes on until `bytes` more bytes of file data were written.
    [[nodiscard]] std::expected<void, std::string> run(std::uint64_t bytes);
    [[nodiscard]] std::uint64_t written() const { return written_; }

private:
    struct File {
        std::uint32_t number = 0;
        std::uint32_t size = 0;
        [[nodiscard]] bool is_large() const { return size > (256u << 10); }
    };
    [[nodiscard]] static std::uint64_t clusters_bytes(std::uint32_t size) {
        return (std::uint64_t{size} + fat_cluster_bytes - 1) / fat_cluster_bytes * fat_cluster_bytes;
    }
    [[nodiscard]] FatDirectory directory_of(const File& file) const { return directories_[file.number % directories_.size()]; }
    [[nodiscard]] std::uint32_t record_of(const File& file) const { return shape_.smallest_record << file.number % shape_.record_doublings; }
    [[nodiscard]] static std::string name_of(const File& file);
    [[nodiscard]] std::uint32_t some_size();
    [[nodiscard]] std::size_t some_file() { return random_.below(files_.size()); }
    [[nodiscard]] std::expected<void, std::string> create(std::uint32_t size);
    [[nodiscard]] std::expected<void, std::string> remove(std::size_t index);
    [[nodiscard]] std::expected<void, std::string> overwrite(const File& file);
    [[nodiscard]] std::expected<void, std::string> read(const File& file);
    [[nodiscard]] std::expected<void, std::string> write_all(const File& file, FatFile& open);
    [[nodiscard]] std::expected<void, std::string> step();

    HybridVolume& board_;
    std::uint64_t level_;
    Random random_;
    FileShape shape_;
    std::vector<FatDirectory> directories_;
    std::vector<File> files_;
    std::uint32_t next_number_ = 0;
    std::uint64_t used_ = 0;
    std::uint64_t written_ = 0;
};

} // namespace flashlab
