#include "tools/reproduce/hybrid_churn.h"

#include <algorithm>

#include <fmt/format.h>

namespace flashlab {
namespace {

constexpr std::uint32_t records_at_random = 8; ///< of a visit to a large file
constexpr std::uint32_t directories = 16;
constexpr std::uint32_t steps_a_sync = 64;

std::unexpected<std::string> failed(const FsError& error) { return std::unexpected(to_text(error)); }

} // namespace

std::string FileChurn::name_of(const File& file) { return fmt::format("f{:08}", file.number); }

/// With nine of ten small files, one in four bytes or so is theirs.
std::uint32_t FileChurn::some_size() {
    if (random_.chance(shape_.small_of_ten, 10)) return static_cast<std::uint32_t>(4096 + random_.below(60u << 10));
    return static_cast<std::uint32_t>((512u << 10) + random_.below(3584u << 10));
}

std::expected<void, std::string> FileChurn::write_all(const File& file, FatFile& open) {
    const std::uint32_t record = record_of(file);
    for (std::uint32_t at = 0; at < file.size; at += record) {
        const std::uint32_t bytes = std::min(record, file.size - at);
        if (auto done = board_.volume().write(board_.call(), open, at, bytes, {}); !done) return failed(done.error());
        written_ += bytes;
    }
    return {};
}

std::expected<void, std::string> FileChurn::create(std::uint32_t size) {
    const File file{.number = next_number_++, .size = size};
    auto made = board_.volume().create(board_.call(), directory_of(file), name_of(file));
    if (!made) return failed(made.error());
    if (auto done = write_all(file, *made); !done) return done;
    files_.push_back(file);
    used_ += clusters_bytes(size);
    return {};
}

std::expected<void, std::string> FileChurn::remove(std::size_t index) {
    const File file = files_[index];
    if (auto done = board_.volume().remove(board_.call(), directory_of(file), name_of(file)); !done) return failed(done.error());
    used_ -= clusters_bytes(file.size);
    files_[index] = files_.back();
    files_.pop_back();
    return {};
}

/// Eight records somewhere in a large file; a small one is written anew from front to back.
std::expected<void, std::string> FileChurn::overwrite(const File& file) {
    auto open = board_.volume().lookup(board_.call(), directory_of(file), name_of(file));
    if (!open) return failed(open.error());
    if (!file.is_large()) return write_all(file, *open);
    const std::uint32_t record = record_of(file);
    for (std::uint32_t r = 0; r < records_at_random; ++r) {
        const auto at = static_cast<std::uint32_t>(random_.below(file.size / record)) * record;
        if (auto done = board_.volume().write(board_.call(), *open, at, record, {}); !done) return failed(done.error());
        written_ += record;
    }
    return {};
}

std::expected<void, std::string> FileChurn::read(const File& file) {
    auto open = board_.volume().lookup(board_.call(), directory_of(file), name_of(file));
    if (!open) return failed(open.error());
    const bool at_random = file.is_large() && random_.chance(1, 2);
    const std::uint32_t record = record_of(file);
    const std::uint32_t records = at_random ? records_at_random : (file.size + record - 1) / record;
    for (std::uint32_t r = 0; r < records; ++r) {
        const auto at = (at_random ? static_cast<std::uint32_t>(random_.below(file.size / record)) : r) * record;
        if (auto done = board_.volume().read(board_.call(), *open, at, record, {}); !done) return failed(done.error());
    }
    return {};
}

std::expected<void, std::string> FileChurn::fill() {
    for (std::uint32_t d = 0; d < directories; ++d) {
        const auto made = board_.volume().make_directory(board_.call(), {}, fmt::format("d{:02}", d));
        if (!made) return failed(made.error());
        directories_.push_back(made->as_directory());
    }
    for (std::uint32_t size = some_size(); used_ + clusters_bytes(size) <= level_; size = some_size())
        if (auto done = create(size); !done) return done;
    return {};
}

std::expected<void, std::string> FileChurn::step() {
    const std::uint64_t what = random_.below(10);
    if (what < 2) return overwrite(files_[some_file()]);
    if (what < 5) return read(files_[some_file()]);
    const std::uint32_t size = some_size();
    while (used_ + clusters_bytes(size) > level_)
        if (auto done = remove(some_file()); !done) return done;
    return create(size);
}

std::expected<void, std::string> FileChurn::run(std::uint64_t bytes) {
    const std::uint64_t until = written_ + bytes;
    for (std::uint64_t steps = 1; written_ < until; ++steps) {
        if (auto done = step(); !done) return done;
        if (steps % steps_a_sync == 0)
            if (auto synced = board_.volume().sync(board_.call()); !synced) return failed(synced.error());
    }
    return {};
}

} // namespace flashlab
