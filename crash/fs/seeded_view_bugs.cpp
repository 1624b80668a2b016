/// What a file system may show wrongly, by little: a byte, a page, an inode. Each is beyond one comparison of the judge alone.
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "crash/fs/forwarding_file_system.h"
#include "crash/fs/seeded_fs_bugs.h"
#include "crash/lying_ftl.h"

namespace flashlab {

namespace {

struct ShowsAByteLess : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<Attributes>> attributes(const FsCall& c, Ino ino) override {
        auto shown = real_->attributes(c, ino);
        if (shown && S_ISREG(shown->value.mode) && shown->value.size != 0) --shown->value.size;
        return shown;
    }
};

struct ShowsNoBytes : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<Attributes>> attributes(const FsCall& c, Ino ino) override {
        auto shown = real_->attributes(c, ino);
        if (shown && S_ISREG(shown->value.mode)) shown->value.size = 0;
        return shown;
    }
};

/// A size that is set beyond the end brings bytes along that nobody wrote.
struct GrowsOverOldBytes : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsResult<Timed<Attributes>> change_attributes(const FsCall& c, Ino ino, const AttributeChange& change) override {
        const auto before = real_->attributes(c, ino);
        auto done = real_->change_attributes(c, ino, change);
        if (!before || !done || (change.which & AttributeChange::size) == 0 || change.new_size <= before->value.size) return done;
        const std::vector<std::byte> old(std::min<std::uint64_t>(change.new_size - before->value.size, 512), std::byte{0x5a});
        (void)real_->write(c, ino, before->value.size, old);
        return done;
    }
};

/// A sync in five fails, though nothing failed.
struct FailsSyncs : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    struct Failing final : SlowCall {
        StepResult step(SimTime) override { return std::unexpected(FsError{EIO}); }
    };
    FsResult<std::unique_ptr<SlowCall>> begin_sync(const FsCall& c, Ino ino, SyncScope scope, WriteErrorMark* mark) override {
        return ++syncs_ % 5 == 0 ? std::make_unique<Failing>() : real_->begin_sync(c, ino, scope, mark);
    }
    int syncs_ = 0;
};

/// The drive does not start every third time. Nothing else shows it.
class StartsSeldom final : public FsSabotage {
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, bool fails) : LyingFtl{std::move(real)}, fails_{fails} {}
        FtlResult<FtlRecovery> do_recover(SimTime now) override {
            if (fails_) return std::unexpected(FtlError{.kind = FtlErrorKind::foreign, .done = now});
            return below().recover(now);
        }
        bool fails_;
    };
    std::unique_ptr<Ftl> around_ftl(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl), ++starts_ % 3 == 0); }
    void begin() override { starts_ = 0; }
    int starts_ = 0;
};

template <int pages, int inodes>
struct Miscounts : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FsUsage usage() const override {
        FsUsage usage = real_->usage();
        usage.data_pages_free += static_cast<std::uint64_t>(pages);
        usage.inodes += static_cast<std::uint64_t>(inodes);
        return usage;
    }
};

} // namespace

std::vector<SeededFsBug> seeded_view_bugs() {
    const std::string_view level = "file system";
    return {
        {"shows_a_byte_less", "a file is a byte shorter than it is", made<FileSystemLies<ShowsAByteLess>>, level, Judge::file_contents},
        {"shows_no_bytes", "each file is empty", made<FileSystemLies<ShowsNoBytes>>, level, Judge::file_contents},
        {"grows_over_old_bytes", "a size set beyond the end shows bytes that nobody wrote", made<FileSystemLies<GrowsOverOldBytes>>, level,
         Judge::file_contents},
        {"fails_syncs", "a sync in five is answered with an error that there is not", made<FileSystemLies<FailsSyncs>>, level, Judge::running},
        {"counts_a_page_too_few", "the free pages are one too few", made<FileSystemLies<Miscounts<-1, 0>>>, level, Judge::space},
        {"counts_an_inode_too_many", "the inodes are one too many", made<FileSystemLies<Miscounts<0, 1>>>, level, Judge::space},
        {"counts_an_inode_too_few", "the inodes are one too few", made<FileSystemLies<Miscounts<0, -1>>>, level, Judge::space},
        {"starts_seldom", "a drive does not start every third time", made<StartsSeldom>, "write-back", Judge::recovery},
    };
}

} // namespace flashlab
