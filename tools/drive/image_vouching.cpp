#include "tools/drive/image_vouching.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace flashlab {
namespace {

constexpr const char* what_helps = "what was written since that copy is lost, and which files it concerns cannot be told; put back copies of both "
                                   "images that were made together";

/// False: they are apart, or one of the two generations is damaged.
bool find_unpaired(const ImagePageStore& nand, const ImagePramStore& pram, std::vector<ImageDamage>& damage) {
    const auto flash = nand.generation();
    const auto cells = pram.generation();
    if (!flash) damage.push_back({"generation-damaged", "nand.img", flash.error().message});
    if (!cells) damage.push_back({"generation-damaged", "pram.img", cells.error()});
    if (!flash || !cells) return false;
    if (belong_together(*flash, *cells)) return true;
    const bool is_older = flash->number < cells->number;
    damage.push_back({"images-apart",
                      is_older                        ? "nand.img"
                      : flash->number > cells->number ? "pram.img"
                                                      : "nand.img and pram.img",
                      flash->number == cells->number
                          ? std::string{"the two do not belong together: one was copied from another run of the device"}
                          : fmt::format("is older than the other image (generation {}, not {}): put back two that were copied together",
                                        std::min(flash->number, cells->number), std::max(flash->number, cells->number))});
    return false;
}

ImageDamage unreadable_image(const HostIoError& error) {
    return {"image-unreadable", "nand.img", fmt::format("cannot be read: {}", std::strerror(error.error_number))};
}

/// Blocks with damaged records keep the evidence that they had: what a repair brings back is judged by it. True: there is none.
bool judge_blocks(const NandEvidence& nand, const std::vector<ImageEvidence>& vouched, DeviceEvidence& now, std::vector<ImageDamage>& damage) {
    std::uint32_t older = 0, first = 0;
    bool all_decode = true;
    for (std::uint32_t i = 0; i < now.blocks.size(); ++i) {
        if (now.blocks[i] == vouched[i]) continue;
        const auto age = nand.age_of(BlockId{i}, vouched[i], now.blocks[i]);
        if (!age) {
            damage.push_back(unreadable_image(age.error()));
            return false;
        }
        if (*age == NandEvidence::Age::damaged) {
            all_decode = false;
            now.blocks[i] = vouched[i];
            continue;
        }
        if (*age == NandEvidence::Age::later && !now.generation.is_exact) continue;
        if (older++ == 0) first = i;
    }
    if (older != 0)
        damage.push_back({"image-partly-older", fmt::format("nand.img block {}{}", first, older == 1 ? "" : fmt::format(" and {} more", older - 1)),
                          fmt::format("this part is of another copy of the image than when the device was last {}; {}",
                                      now.generation.is_exact ? "closed" : "opened", what_helps)});
    return all_decode;
}

/// After a kill: blocks that were written to or erased since the evidence was kept, and are as they were then.
void judge_tally(std::uint64_t sealed, std::uint32_t pages_per_block, const DeviceEvidence& now, std::vector<ImageDamage>& damage) {
    const auto made = unsealed_tally(sealed);
    if (!made || now.generation.is_exact || !damage.empty() || tally_of(now.blocks, pages_per_block) >= *made) return;
    damage.push_back(
        {"image-partly-older", "nand.img",
         fmt::format("erases and programs are missing that were made since the device was last opened: page records are gone, or a part of "
                     "it is of another copy of the image; {}",
                     what_helps)});
}

} // namespace

std::uint64_t DeviceEvidence::root() const { return root_of(blocks, EvidenceOwner::nand) ^ root_of(parts, EvidenceOwner::pram); }

DeviceEvidence judge_images(const ImagePageStore& nand, const ImagePramStore& pram, const DeviceConfig& config, std::vector<ImageDamage>& damage) {
    DeviceEvidence now;
    if (!find_unpaired(nand, pram, damage)) return now;
    now.generation = *pram.generation();
    auto blocks = nand.evidence().survey();
    if (!blocks) {
        damage.push_back(unreadable_image(blocks.error()));
        return now;
    }
    now.blocks = std::move(*blocks);
    if (config.needs_pram()) now.parts = pram.survey();
    if (!nand.keeps_evidence() || !now.generation.has_evidence) return now;

    const auto vouched = nand.evidence().read(now.generation.second_copy);
    const auto parts = config.needs_pram() ? pram.evidence(now.generation.second_copy) : std::vector<ImageEvidence>{};
    if (!vouched || parts.size() != now.parts.size()) {
        if (!vouched && vouched.error().error_number != EBADMSG) damage.push_back(unreadable_image(vouched.error()));
        damage.push_back({"evidence-damaged", vouched ? "pram.img" : "nand.img",
                          "its evidence, by which parts of older copies are told, is not what was written: a checksum does not hold"});
    } else if ((DeviceEvidence{*vouched, parts, {}}.root()) != now.generation.root) {
        damage.push_back({"image-partly-older", "nand.img or pram.img, evidence",
                          fmt::format("it comes from another copy of the image than the rest; {}", what_helps)});
    } else {
        const bool has_sound_cells = std::ranges::none_of(damage, [](const ImageDamage& one) { return one.where.starts_with("pram.img"); });
        const std::size_t part = has_sound_cells ? find_older_part(parts, now.parts, now.generation.is_exact) : parts.size();
        // What does not decode is damage of its own, which a repair may mend: it has no number of pages yet.
        if (judge_blocks(nand.evidence(), *vouched, now, damage))
            judge_tally(pram.nand_tally(), config.ssd.nand.geometry.pages_per_block, now, damage);
        if (part != parts.size())
            damage.push_back({"image-partly-older", fmt::format("pram.img part {} of {}", part + 1, parts.size()),
                              fmt::format("this part is of another copy of the image than when the device was last {}; {}",
                                          now.generation.is_exact ? "closed" : "opened", what_helps)});
    }
    return now;
}

std::expected<void, std::string> vouch(ImagePageStore& nand, ImagePramStore& pram, const DeviceEvidence& evidence, Vouched vouched,
                                       std::uint64_t history) {
    // A kill may have left the two a step apart. The next generation counts from the PRAM's, which is then the one behind.
    const auto now = pram.generation();
    if (!now) return std::unexpected(now.error());
    ImageGeneration next = now->next(history);
    next.is_exact = false;
    if (nand.keeps_evidence()) {
        const std::uint64_t root = evidence.root();
        bool is_kept = next.has_evidence && next.root == root;
        if (const bool second = next.has_evidence && !next.second_copy; !is_kept && nand.evidence().write(second, evidence.blocks)) {
            pram.set_evidence(second, evidence.parts);
            next.has_evidence = is_kept = true;
            next.second_copy = second;
            next.root = root;
        }
        next.is_exact = is_kept && vouched == Vouched::is;
    }
    ImageGeneration announced = next;
    announced.announced = true;
    const auto refused = [](const HostIoError& error) {
        return std::unexpected(fmt::format("nand.img cannot be written: {}", std::strerror(error.error_number)));
    };
    if (auto written = nand.set_generation(announced); !written) return refused(written.error());
    pram.set_generation(next);
    if (auto written = nand.set_generation(next); !written) return refused(written.error());
    if (next.is_exact) pram.nand_tally() = 0;
    return {};
}

} // namespace flashlab
