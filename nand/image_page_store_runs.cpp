/// Pages that follow each other in the image, in one system call.
#include <algorithm>
#include <array>
#include <utility>

#include <sys/uio.h>

#include "nand/host_file.h"
#include "nand/image_page_store.h"

namespace flashlab {

namespace {

constexpr std::size_t most_in_run = 64;

} // namespace

std::expected<void, HostIoError> ImagePageStore::read_pages(std::span<PageFetch> pages) {
    std::ranges::sort(pages, {}, &PageFetch::page);
    for (std::size_t first = 0; first < pages.size();) {
        const BlockId block = geometry_.block_of(pages[first].page);
        const auto records = records_of(block);
        if (!records) return std::unexpected(records.error());
        std::size_t end = first;
        do {
            const std::size_t at = std::size_t{geometry_.page_in_block(pages[end].page)} * ImageLayout::page_record_bytes;
            PageRecord record;
            pages[end].is_damaged = !decode_page_record(records->subspan(at).first<ImageLayout::page_record_bytes>(), record);
            pages[end].data_crc = record.data_crc;
            ++end;
        } while (end < pages.size() && end - first < most_in_run && pages[end].page.value() == pages[end - 1].page.value() + 1 &&
                 geometry_.block_of(pages[end].page) == block);
        if (auto read = read_run(pages.subspan(first, end - first)); !read) return read;
        first = end;
    }
    return {};
}

/// Pages that follow each other in the image.
std::expected<void, HostIoError> ImagePageStore::read_run(std::span<PageFetch> run) {
    std::array<iovec, most_in_run> parts;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
        parts[i] = {run[i].to.data(), run[i].to.size()};
        bytes += run[i].to.size();
    }
    const ssize_t got = ::preadv(fd_, parts.data(), static_cast<int>(run.size()), static_cast<off_t>(layout_.data_at(run.front().page)));
    if (got == static_cast<ssize_t>(bytes)) return {};
    for (const PageFetch& page : run) { // a short read or an error: page by page it says which
        if (auto read = read_data(page.page, 0, page.to); !read) return read;
    }
    return {};
}

std::expected<void, HostIoError> ImagePageStore::write_run(Ppn first, std::span<const std::span<const std::byte>> pages) {
    if (pages.size() == 1) return write_data(first, pages.front());
    std::array<iovec, most_in_run> parts;
    std::size_t waiting = 0;
    for (std::uint32_t i = 0; i < pages.size(); ++i) {
        const Ppn page{first.value() + i};
        if (const int refused = injected_error()) return noted(std::unexpected(HostIoError{refused}));
        const bool is_part = takes_room(page, pages[i]);
        if (is_part) parts[waiting++] = {const_cast<std::byte*>(pages[i].data()), pages[i].size()}; // iovec is for reads, too
        const bool goes_on = is_part && i + 1 < pages.size() && waiting < most_in_run;
        if (goes_on || waiting == 0) continue;
        const auto from = static_cast<std::uint32_t>(page.value() + (is_part ? 1 : 0) - waiting);
        if (auto wrote = noted(write_parts(Ppn{from}, std::span{parts}.first(std::exchange(waiting, 0)))); !wrote) return wrote;
    }
    return {};
}

/// What the host does not take at once is written page by page: that says why.
std::expected<void, HostIoError> ImagePageStore::write_parts(Ppn first, std::span<iovec> parts) {
    std::size_t bytes = 0;
    for (const iovec& part : parts) bytes += part.iov_len;
    const ssize_t wrote = ::pwritev(fd_, parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(layout_.data_at(first)));
    if (wrote == static_cast<ssize_t>(bytes)) return {};
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
        const std::span<const std::byte> page{static_cast<const std::byte*>(parts[i].iov_base), parts[i].iov_len};
        if (auto one = write_all(fd_, layout_.data_at(Ppn{first.value() + i}), page); !one) return one;
    }
    return {};
}

} // namespace flashlab
