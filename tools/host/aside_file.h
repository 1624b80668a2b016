/// A file that is written aside and takes its name when it is complete: the output files of -o, --html and --events.
///
/// Idea       The content goes to NAME.unfinished-PID beside the target. commit() renames it to NAME. A reader of NAME sees the old file or the whole
///            new one.
/// Invariant  Until commit() the target stays as it was. Without commit() no file is left, and none of the files that SQLite puts beside its own.
///            make() reports a place where no file can be made. If the target is a symbolic link, the file that it points to is replaced, and the
///            link stays. A pipe, a terminal or another device is written directly. What nobody means to lose is never replaced: a file that the
///            caller reads, a database (unless one is written), a file that a drive consists of.
/// Cost       One extra name and one rename.
/// Power cut  Of the host: nothing is synced. After it NAME may be an empty file, as with any program that writes without fsync.
#pragma once

#include <cstdint>
#include <cstdio>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab {

class AsideFile {
public:
    enum class Existing : std::uint8_t { refused, replaced, replaced_database };
    /// `inputs` are the files that the caller reads, under any name. Of `replaced_database` the caller says that the old database is its own.
    [[nodiscard]] static std::expected<AsideFile, std::string> make(const std::string& target, Existing existing,
                                                                    const std::vector<std::string>& inputs = {});
    AsideFile(AsideFile&& other) noexcept;
    AsideFile& operator=(AsideFile&&) = delete;
    ~AsideFile();

    /// Where the content lies until commit().
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& target() const { return target_; }
    /// The file, to be written from its beginning. Null: the file cannot be opened.
    [[nodiscard]] std::FILE* stream();
    [[nodiscard]] std::expected<void, std::string> write(std::string_view text);
    /// Writes out what is buffered and gives the file its name. From then on it is the target.
    [[nodiscard]] std::expected<void, std::string> commit();

private:
    AsideFile(std::string target, std::string path, Existing existing) : target_{std::move(target)}, path_{std::move(path)}, existing_{existing} {}
    [[nodiscard]] bool is_aside() const { return path_ != target_; }
    [[nodiscard]] std::unexpected<std::string> failed(int why) const;

    std::string target_, path_; ///< both are the same where the target is a device
    Existing existing_;
    std::FILE* stream_ = nullptr;
    bool gone_ = false; ///< committed, or moved from
};

} // namespace flashlab
