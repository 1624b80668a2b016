/// A file that is written aside and takes its name when it is complete: what -o, --html and --events make.
///
/// Idea       NAME.unfinished-PID beside the target, renamed at the end. Whoever reads NAME sees the file before or the whole new one.
/// Invariant  Until commit() the target is as it was; without commit() nothing is left, nor of what SQLite puts beside its files. A place where nothing can be made
///            is told by make(). A symbolic link stays one: what it points to is replaced. A pipe, terminal or other device is written straight through.
/// Cost       A name, a rename.
/// Power cut  Of the host: not synced, the name may point to an empty file, as after any program that writes without fsync.
#pragma once

#include <cstdint>
#include <cstdio>
#include <expected>
#include <string>
#include <string_view>

namespace flashlab {

class AsideFile {
public:
    enum class Existing : std::uint8_t { refused, replaced };
    [[nodiscard]] static std::expected<AsideFile, std::string> make(const std::string& target, Existing existing);
    AsideFile(AsideFile&& other) noexcept;
    AsideFile& operator=(AsideFile&&) = delete;
    ~AsideFile();

    /// Where it is until commit().
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& target() const { return target_; }
    /// The file, to be written from its beginning; null: it cannot be opened.
    [[nodiscard]] std::FILE* stream();
    [[nodiscard]] std::expected<void, std::string> write(std::string_view text);
    /// Everything written is in the file, and the file is the target from now on.
    [[nodiscard]] std::expected<void, std::string> commit();

private:
    AsideFile(std::string target, std::string path, Existing existing) : target_{std::move(target)}, path_{std::move(path)}, existing_{existing} {}
    [[nodiscard]] bool is_aside() const { return path_ != target_; }
    [[nodiscard]] std::unexpected<std::string> failed(int why) const;

    std::string target_, path_; ///< the same: a device
    Existing existing_;
    std::FILE* stream_ = nullptr;
    bool gone_ = false; ///< committed, or moved from
};

} // namespace flashlab
