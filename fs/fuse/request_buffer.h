/// The memory into which a worker reads its requests.
///
/// Idea       A write's data follow 80 bytes of headers. The buffer begins 80 bytes before the end of a page, so that the data begin at a page. The
///            kernel then copies each page in one piece instead of two.
///            Only libfuse knows how long the buffer must be, so libfuse makes the first one.
/// Invariant  The buffer is never shorter than the one that libfuse made.
/// Cost       Two allocations a worker.
#pragma once

#include <cstddef>
#include <cstdlib>

#include <linux/fuse.h>
#include <malloc.h>

#include "base/page_memory.h"
#include "fs/fuse/fuse_api.h"

namespace flashlab {

class RequestBuffer {
public:
    RequestBuffer() = default;
    ~RequestBuffer() {
        if (!ours_) std::free(buffer_.mem);
    }
    RequestBuffer(const RequestBuffer&) = delete;
    RequestBuffer& operator=(const RequestBuffer&) = delete;

    /// For fuse_session_receive_buf and fuse_session_process_buf.
    [[nodiscard]] fuse_buf* get() { return &buffer_; }
    /// Must be called between two requests.
    void align() {
        if (!is_replaceable || ours_ || buffer_.mem == nullptr) return;
        ours_ = page_memory(host_page_bytes + ::malloc_usable_size(buffer_.mem));
        std::free(buffer_.mem);
        buffer_.mem = ours_.get() + host_page_bytes - headers_of_a_write;
    }

private:
    static constexpr std::size_t headers_of_a_write = sizeof(fuse_in_header) + sizeof(fuse_write_in);
    /// From 3.17 on libfuse keeps the length beside the buffer and replaces it by itself.
    static constexpr bool is_replaceable = FUSE_VERSION < FUSE_MAKE_VERSION(3, 17);
    fuse_buf buffer_{};
    PageMemory ours_;
};

} // namespace flashlab
