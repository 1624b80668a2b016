/// A file that is changed in place, and put back unless the changes are kept.
///
/// Idea       What a write is about to replace is remembered first.
/// Invariant  Without keep() the file's bytes and its length are as they were, when the object is gone.
/// Cost       Memory for what is replaced.
/// Power cut  A kill leaves the changes made so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace flashlab {

class UndoableFile {
public:
    explicit UndoableFile(const std::filesystem::path& path);
    ~UndoableFile();
    UndoableFile(const UndoableFile&) = delete;
    UndoableFile& operator=(const UndoableFile&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    /// errno of the first call of the host that failed; 0: none did.
    [[nodiscard]] int failure() const { return failure_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::vector<std::byte> read(std::uint64_t at, std::size_t bytes); ///< what lies behind the end reads zero
    /// From `at` on; where the file has nothing but holes up to its end: its end.
    [[nodiscard]] std::uint64_t next_data(std::uint64_t at) const;
    void write(std::uint64_t at, std::span<const std::byte> bytes);
    /// write(), unless these bytes are there already.
    void change(std::uint64_t at, std::span<const std::byte> bytes);
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Makes the file longer, with a hole.
    void extend(std::uint64_t bytes);
    void keep() { is_kept_ = true; }

private:
    void note(bool went_well);
    std::filesystem::path path_;
    int fd_;
    int failure_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t bytes_before_ = 0;
    bool is_kept_ = false;
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> replaced_;
};

} // namespace flashlab
