/// nand.img and pram.img, mended in place: their checksums stand for ECC, and here they are used as such.
///
/// Idea       A checksum that does not hold says which bit was flipped, of a line of PRAM or a small record also which two (base/crc_repair.h). So
///            headers, generations, block and page records, page data and lines of PRAM get their bits back. A block record or wear counter that
///            stays damaged loses its count alone: it gets the greatest of the others. A nand.img that was cut short within its data gets its length
///            back, where no PRAM image must agree with it: what was behind the cut does not read.
/// Invariant  Nothing is invented: what is changed passes its own checksum afterwards, or is a count and listed as lost. Unless keep() is called,
///            every byte and both lengths are put back.
/// Cost       Reads both images once, as `fsck --data` does.
/// Power cut  A kill leaves images of which some bits are right again.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "tools/drive/device_config.h"
#include "tools/drive/tree_salvage.h"

namespace flashlab {

class ImageMender {
public:
    ImageMender(const std::string& directory, const DeviceConfig& config);
    ~ImageMender();
    ImageMender(const ImageMender&) = delete;
    ImageMender& operator=(const ImageMender&) = delete;

    /// The error: an image cannot be read or written.
    [[nodiscard]] std::expected<void, std::string> mend();
    /// Nothing is put back.
    void keep();
    [[nodiscard]] std::uint64_t bits_mended() const;
    [[nodiscard]] const std::vector<LostPart>& lost() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace flashlab
