// The machine under the seeded defects of the whole stack: it is what its name says, it says what failed, and what one program leaves behind does
// not reach the next.
#include "crash/fs/fs_stack.h"

#include <algorithm>
#include <array>

#include "crash/lying_ftl.h"
#include "ftl/forwarding_device.h"
#include "tests/support/catch.h"

using namespace flashlab;

namespace {

enum class Call : std::uint8_t { none, recover, write, trim, flush, shut_down };

/// Refuses one kind of call, from the `from`-th power-on on. Notes in which order programs, drives and file systems begin.
struct Refuses final : FsSabotage {
    explicit Refuses(Call refused, std::uint32_t start = 1) : call{refused}, from{start} {}
    struct Scheme : LyingFtl {
        Scheme(std::unique_ptr<Ftl> real, const Refuses& by) : LyingFtl{std::move(real)}, by_{by} {}
        [[nodiscard]] bool refuses(Call call) const { return by_.call == call && by_.starts >= by_.from; }
        [[nodiscard]] auto no(FtlErrorKind kind, SimTime now) const { return std::unexpected(FtlError{.kind = kind, .done = now}); }
        FtlResult<FtlRecovery> do_recover(SimTime now) override {
            if (refuses(Call::recover)) return no(FtlErrorKind::lost_page, now);
            return below().recover(now);
        }
        FtlResult<SimTime> do_write(Lpn first, std::uint32_t pages, std::span<const std::byte> from, const Io& io) override {
            if (refuses(Call::write)) return no(FtlErrorKind::read_only, io.when);
            return below().write(first, pages, from, io);
        }
        FtlResult<SimTime> do_trim(Lpn first, std::uint32_t pages, const Io& io) override {
            if (refuses(Call::trim)) return no(FtlErrorKind::read_only, io.when);
            return below().trim(first, pages, io);
        }
        FtlResult<SimTime> do_flush(const Io& io) override {
            if (refuses(Call::flush)) return no(FtlErrorKind::read_only, io.when);
            return below().flush(io);
        }
        FtlResult<SimTime> do_shut_down(SimTime now) override {
            if (refuses(Call::shut_down)) return no(FtlErrorKind::read_only, now);
            return below().shut_down(now);
        }
        const Refuses& by_;
    };
    void begin() override { ++programs; }
    std::unique_ptr<Ftl> around_ftl(std::unique_ptr<Ftl> ftl) override {
        ++starts;
        return std::make_unique<Scheme>(std::move(ftl), *this);
    }
    Call call;
    std::uint32_t from;
    std::uint32_t programs = 0, starts = 0;
};

/// What making and opening a stack says; "" where it is open.
std::string trouble_with(FsStackConfig config, FsSabotage* sabotage) {
    config.sabotage = sabotage;
    std::string trouble;
    FsStack stack{config, trouble};
    if (!trouble.empty()) return trouble;
    const auto opened = stack.open(stack.ready_at());
    return opened ? "" : opened.error();
}

FsImage image_of(const FsStackConfig& config) {
    std::string trouble;
    FsStack stack{config, trouble};
    REQUIRE(trouble.empty());
    return stack.take_image();
}

/// Makes a file of `bytes` and syncs it; the time at which it is there.
SimTime write_file(FsStack& stack, std::string_view name, std::size_t bytes) {
    FileSystem& fs = stack.fs();
    const FsCall call{.now = stack.ready_at(), .wall = {.seconds = 9}};
    const auto made = fs.make_node(call, root_ino, name, 0100644, 0);
    REQUIRE(made.has_value());
    const std::vector<std::byte> data(bytes, std::byte{0x3c});
    REQUIRE(fs.write(call, made->value.ino, 0, data).has_value());
    auto sync = fs.begin_sync(call, made->value.ino, SyncScope::data_and_metadata, nullptr);
    REQUIRE(sync.has_value());
    SimTime now = call.now;
    for (;;) {
        const auto stepped = (*sync)->step(now);
        REQUIRE(stepped.has_value());
        if (const auto* done = std::get_if<Done>(&*stepped)) return done->at;
        now = std::max(std::get<ResumeAt>(*stepped).at, now + Duration{1});
    }
}

bool equal_cells(const FsCells& one, const FsCells& other) {
    return one.pages->fingerprint() == other.pages->fingerprint() && std::ranges::equal(one.pram->content(), other.pram->content()) &&
           std::ranges::equal(one.pram->wear(), other.pram->wear());
}

} // namespace

TEST_CASE("a tiny stack is of the scheme, cell, store and variant that its shape names", "[fs][crash][stack]") {
    const auto plain = tiny_stack(FsShape{"dftl", false, "slc", ""});
    REQUIRE(plain.has_value());
    CHECK(plain->ssd.ftl.scheme == "dftl");
    CHECK(plain->ssd.nand.geometry.cell == CellType::slc);
    CHECK_FALSE(plain->ssd.nand.options.paired_pages);
    CHECK(plain->ssd.nand.factory_bad_per_million == 0);
    CHECK(plain->ssd.dram.write_buffer_bytes == 0);
    CHECK_FALSE(plain->worn);
    CHECK_FALSE(plain->journal);
    // So small that write-back, eviction and age come within a program.
    CHECK(plain->fs.cache_bytes == 256u << 10);
    CHECK(plain->fs.dirty_age == Duration{20'000'000});
    CHECK(plain->ssd.pram.bytes == 3u << 20);
    const auto pairs = tiny_stack(FsShape{.scheme = "hftl", .journal = true, .cell = "tlc", .variant = "buffer"});
    REQUIRE(pairs.has_value());
    CHECK(pairs->ssd.nand.geometry.cell == CellType::tlc);
    CHECK(pairs->ssd.nand.options.paired_pages);
    CHECK(pairs->ssd.dram.write_buffer_bytes == 6 * 4096);
    CHECK(pairs->journal);
    CHECK_FALSE(pairs->worn);
    const auto worn = tiny_stack(FsShape{"hftl", false, "slc", "worn"});
    REQUIRE(worn.has_value());
    CHECK(worn->worn);
    const auto none = tiny_stack(FsShape{"hftl", false, "paper", ""});
    REQUIRE_FALSE(none.has_value());
    CHECK_THAT(none.error(), ContainsSubstring("paper"));
}

TEST_CASE("a tiny stack has as many blocks as its scheme needs, or says why there is none", "[fs][crash][stack]") {
    for (const char* scheme : {"block_map", "coftl", "fast"}) {
        CAPTURE(scheme);
        const auto config = tiny_stack(FsShape{scheme, false, "slc", ""});
        REQUIRE(config.has_value());
        CHECK(trouble_with(*config, nullptr).empty());
    }
    CHECK_FALSE(tiny_stack(FsShape{"nothing", false, "slc", ""}).has_value());
}

TEST_CASE("a stack says which of its parts failed, and does not go on", "[fs][crash][stack]") {
    const bool journal = GENERATE(false, true);
    CAPTURE(journal);
    FsStackConfig config = journal ? tiny_journal_stack() : tiny_stack();
    Refuses never{Call::none};
    CHECK(trouble_with(config, &never).empty());
    CHECK(never.programs == 1);
    CHECK(never.starts == 2);
    Refuses start{Call::recover};
    CHECK_THAT(trouble_with(config, &start), ContainsSubstring("the drive does not recover: kind "));
    CHECK(start.starts == 1);
    Refuses second_start{Call::recover, 2};
    CHECK_THAT(trouble_with(config, &second_start), ContainsSubstring("the drive does not recover: kind "));
    CHECK(second_start.starts == 2);
    if (journal) {
        Refuses format{Call::write};
        CHECK_THAT(trouble_with(config, &format), ContainsSubstring("format: errno "));
    }
    config.worn = true;
    for (const Call call : {Call::write, Call::trim, Call::flush}) {
        Refuses wear{call};
        CHECK(trouble_with(config, &wear) == "the drive cannot be written full");
    }
    config.worn = false;
    config.ssd.ftl.scheme = "nothing";
    CHECK_FALSE(trouble_with(config, nullptr).empty());
}

TEST_CASE("a file system that does not open is told, through a sabotage or without one", "[fs][crash][stack]") {
    const bool journal = GENERATE(false, true);
    const bool through_sabotage = GENERATE(false, true);
    CAPTURE(journal, through_sabotage);
    FsStackConfig config = journal ? tiny_journal_stack() : tiny_stack();
    FsImage blank = image_of(config);
    blank.cells.pages = std::make_unique<MemoryPageStore>(*Geometry::make(config.ssd.nand.geometry), Payload::keep);
    std::ranges::fill(blank.cells.pram->cells(), std::byte{0});
    Refuses never{Call::none};
    if (through_sabotage) config.sabotage = &never;
    FsStack stack{config, blank, {}};
    CHECK(never.programs == (through_sabotage ? 1 : 0));
    const auto opened = stack.open(blank.ready_at);
    REQUIRE_FALSE(opened.has_value());
    CHECK_FALSE(opened.error().empty());
}

TEST_CASE("a stack that cannot be shut down says whether it was the file system or the drive", "[fs][crash][stack]") {
    for (const auto& [call, words] : {std::pair{Call::shut_down, "the drive does not close"}, {Call::none, ""}}) {
        Refuses sabotage{call};
        FsStackConfig config = tiny_stack();
        config.sabotage = &sabotage;
        std::string trouble;
        FsStack stack{config, trouble};
        REQUIRE(stack.open(stack.ready_at()).has_value());
        const auto closed = stack.shut_down(write_file(stack, "a", 5000));
        CHECK((closed ? "" : closed.error()) == words);
    }
    Refuses writes{Call::write, 2};
    FsStackConfig config = tiny_stack();
    config.sabotage = &writes;
    std::string trouble;
    FsStack stack{config, trouble};
    REQUIRE(stack.open(stack.ready_at()).has_value());
    const FsCall call{.now = stack.ready_at(), .wall = {.seconds = 9}};
    const auto made = stack.fs().make_node(call, root_ino, "a", 0100644, 0);
    REQUIRE(stack.fs().write(call, made->value.ino, 0, std::vector<std::byte>(9000, std::byte{7})).has_value());
    const auto closed = stack.shut_down(call.now);
    REQUIRE_FALSE(closed.has_value());
    CHECK_THAT(closed.error(), ContainsSubstring("the file system does not close: errno "));
}

TEST_CASE("what was written lasts through a shutdown, a kill and a cut after it, and its times go on", "[fs][crash][stack]") {
    const bool journal = GENERATE(false, true);
    CAPTURE(journal);
    std::string trouble;
    FsStack stack{journal ? tiny_journal_stack() : tiny_stack(), trouble};
    REQUIRE(trouble.empty());
    CHECK(stack.ready_at() > sim_start); // the format took its time
    SimTime now = stack.ready_at() + Duration{1'000'000};
    for (const char* name : {"a", "b", "c", "d"}) {
        REQUIRE(stack.open(now).has_value());
        CHECK(stack.opened_at() == now);
        CHECK(stack.ready_at() >= now);
        CHECK(stack.ready_at() >= stack.last_reserved_end());
        for (const char* before : {"a", "b", "c"}) {
            if (*before >= *name) break;
            CHECK(stack.fs().lookup({.now = stack.ready_at(), .wall = {}}, root_ino, before).has_value());
        }
        CHECK(stack.problems().empty());
        const SimTime done = write_file(stack, name, 5000);
        now = std::max(done, stack.last_reserved_end()) + Duration{1'000'000};
        if (*name == 'a') {
            const auto closed = stack.shut_down(now);
            REQUIRE(closed.has_value());
            CHECK(*closed >= now);
            now = *closed;
        } else if (*name == 'b') {
            stack.kill();
        } else {
            stack.cut(now, 1);
        }
    }
}

TEST_CASE("a program begins with the empty image, whatever the last one did in the same cells", "[fs][crash][stack]") {
    const auto [journal, worn] = GENERATE(table<bool, bool>({{false, false}, {true, false}, {false, true}}));
    CAPTURE(journal, worn);
    FsStackConfig config = journal ? tiny_journal_stack() : tiny_stack();
    config.worn = worn;
    const FsImage image = image_of(config);
    FsStack first{config, image, {}};
    FsCells untouched = first.take_cells();
    CHECK(equal_cells(untouched, image.cells));
    FsStack used{config, image, std::move(untouched)};
    CHECK(used.page_bytes() == image.page_bytes);
    REQUIRE(used.open(used.ready_at()).has_value());
    const SimTime done = write_file(used, "a", 100'000);
    used.cut(done, 3);
    FsCells left = used.take_cells();
    CHECK_FALSE(equal_cells(left, image.cells));
    FsStack next{config, image, std::move(left)};
    CHECK(equal_cells(next.take_cells(), image.cells));
}

TEST_CASE("the fingerprint of a cut tells a word of PRAM and a page of flash apart", "[fs][crash][stack]") {
    const FsImage image = image_of(tiny_stack());
    const auto after = [&](std::string_view name, std::size_t bytes) {
        FsStack stack{tiny_stack(), image, {}};
        REQUIRE(stack.open(stack.ready_at()).has_value());
        const SimTime done = name.empty() ? stack.ready_at() : write_file(stack, name, bytes);
        stack.cut(std::max(done, stack.last_reserved_end()), 3);
        return stack.fingerprint();
    };
    const std::uint64_t nothing = after("", 0);
    const std::uint64_t name_alone = after("a", 0); // in PRAM
    CHECK(nothing == after("", 0));
    CHECK(name_alone == after("a", 0));
    CHECK(nothing != name_alone);
    CHECK(name_alone != after("b", 0));
    CHECK(name_alone != after("a", 5000));
}

TEST_CASE("a worn stack begins with every page written and trimmed", "[fs][crash][stack]") {
    FsStackConfig config = tiny_stack();
    const auto erased_after_first_write = [&](bool worn) {
        config.worn = worn;
        std::string trouble;
        FsStack stack{config, trouble};
        REQUIRE(trouble.empty());
        REQUIRE(stack.open(stack.ready_at()).has_value());
        for (const char* name : {"a", "b", "c"}) (void)write_file(stack, name, 120'000);
        std::uint64_t erases = 0;
        for (const std::uint64_t of_cause : stack.ssd().sample(stack.last_reserved_end()).nand_erases) erases += of_cause;
        return erases;
    };
    CHECK(erased_after_first_write(true) > erased_after_first_write(false));
}

TEST_CASE("a cut draws its outcomes from its seed, and the instants of a run are told once each, in order", "[fs][crash][stack]") {
    std::array<std::uint64_t, OutcomeCounts::names.size()> drawn{};
    const FsImage image = image_of(tiny_stack());
    for (std::uint64_t seed = 1; seed < 150; ++seed) {
        FsStack stack{tiny_stack(), image, {}};
        REQUIRE(stack.open(stack.ready_at()).has_value());
        (void)write_file(stack, "a", 100'000);
        const auto instants = stack.recorder().instants();
        CHECK(instants.size() > 10);
        CHECK(std::ranges::adjacent_find(instants, std::greater_equal<>{}) == instants.end());
        stack.cut(instants[seed * 7919 % instants.size()], seed);
        for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] += stack.outcomes().counts[i];
    }
    for (const std::size_t outcome : {0, 1, 2, 3, 4, 5, 12, 13, 14}) {
        CAPTURE(OutcomeCounts::names[outcome]);
        CHECK(drawn[outcome] != 0);
    }
}

TEST_CASE("findings are told by their judge, and those of a judge who is left out are not", "[fs][crash][stack]") {
    struct Disagrees final : FsSabotage {
        struct Scheme : LyingFtl {
            using LyingFtl::LyingFtl;
            std::vector<CheckProblem> do_check() override { return {{.invariant = "a lie", .where = {}, .detail = {}}}; }
        };
        std::unique_ptr<Ftl> around_ftl(std::unique_ptr<Ftl> ftl) override { return std::make_unique<Scheme>(std::move(ftl)); }
    };
    for (const bool is_asked : {true, false}) {
        Disagrees sabotage;
        FsStackConfig config = tiny_stack();
        config.sabotage = &sabotage;
        if (!is_asked) config.judges = JudgeSet{}.without(Judge::drive_check);
        std::string trouble;
        FsStack stack{config, trouble};
        REQUIRE(stack.open(stack.ready_at()).has_value());
        const auto found = stack.findings();
        REQUIRE(found.size() == (is_asked ? 1 : 0));
        if (!is_asked) continue;
        CHECK(found.front().judge == Judge::drive_check);
        CHECK_THAT(stack.problems().front(), ContainsSubstring("drive: a lie"));
    }
}
