/// A deliberate defect between the parts of the whole stack: what Sabotage is to a drive.
///
/// Idea       At every opening the stack asks for wrappers: between program and file system, between file system and metadata store, between file
///            system and drive, around the translation layer. Or the defect is what a wrong recovery leaves in the metadata.
/// Invariant  The default functions change nothing. The parts themselves know nothing of it.
/// Cost       None without one.
/// Power cut  A sabotage lives outside the stack, across cuts. begin() comes before each program.
#pragma once

#include <memory>

#include "fs/file_system.h"
#include "fs/metadata_store.h"
#include "ftl/ftl.h"

namespace flashlab {

class FsSabotage {
public:
    virtual ~FsSabotage() = default;
    /// A program begins on a new drive: the sabotage forgets the one before.
    virtual void begin() {}
    [[nodiscard]] virtual std::unique_ptr<Ftl> around_ftl(std::unique_ptr<Ftl> ftl) { return ftl; }
    /// Null: the drive itself. It outlives the wrapper.
    [[nodiscard]] virtual std::unique_ptr<BlockDevice> around_drive(BlockDevice&) { return nullptr; }
    [[nodiscard]] virtual std::shared_ptr<MetadataStore> around_store(std::shared_ptr<MetadataStore> store) { return store; }
    [[nodiscard]] virtual std::unique_ptr<FileSystem> around_fs(std::unique_ptr<FileSystem> fs) { return fs; }
    /// Changes the metadata of a file system that has just been opened.
    virtual void spoil(MetadataStore&, SimTime) {}
};

// Of a part that lies.
template <class Liar>
class FileSystemLies final : public FsSabotage {
    std::unique_ptr<FileSystem> around_fs(std::unique_ptr<FileSystem> fs) override { return std::make_unique<Liar>(std::move(fs)); }
};
template <class Liar>
class DriveLies final : public FsSabotage {
    std::unique_ptr<BlockDevice> around_drive(BlockDevice& drive) override { return std::make_unique<Liar>(drive); }
};
template <class Liar>
class StoreLies final : public FsSabotage {
    std::shared_ptr<MetadataStore> around_store(std::shared_ptr<MetadataStore> store) override { return std::make_shared<Liar>(std::move(store)); }
};

/// As a list of defects names it: makes one that begins anew.
template <class T>
std::unique_ptr<FsSabotage> made() {
    return std::make_unique<T>();
}

} // namespace flashlab
