/// A directory that is removed with its content unless it is kept. mkfs and clone build in such a directory, so that a failure leaves nothing behind.
#pragma once

#include <filesystem>

namespace flashlab {

class UnfinishedDirectory {
public:
    explicit UnfinishedDirectory(std::filesystem::path directory) : directory_{std::move(directory)} {}
    UnfinishedDirectory(const UnfinishedDirectory&) = delete;
    UnfinishedDirectory& operator=(const UnfinishedDirectory&) = delete;
    ~UnfinishedDirectory() {
        std::error_code ignored;
        if (!kept_) std::filesystem::remove_all(directory_, ignored);
    }
    void keep() { kept_ = true; }

private:
    std::filesystem::path directory_;
    bool kept_ = false;
};

} // namespace flashlab
