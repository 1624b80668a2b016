// Goal: a live file system whose power was cut is brought into a state that the model allows: exactly the one that was drawn, sound for fsck, and
// with everything untouched that the history does not concern.
// Method: drawn programs on an old tree, on both metadata stores; the device loses what was not flushed; the settled tree is compared name by name
// and page by page with the drawn state.
#include "crash/apps/live_history.h"
#include "crash/apps/tree_settler.h"
#include "tests/apps/recorded_program.h"
#include "tests/fs/fs_world.h"

using namespace flashlab;
using namespace flashlab::test;

namespace {

constexpr std::uint64_t plenty = 64u << 20;

/// An FsWorld whose calls are written down.
class LiveWorld {
public:
    explicit LiveWorld(std::uint64_t pram_bytes, std::uint64_t most_bytes = plenty) : world{4096, pram_bytes}, most_bytes_{most_bytes} {}
    ~LiveWorld() {
        if (below_) leave();
    }
    LiveWorld(const LiveWorld&) = delete;
    LiveWorld& operator=(const LiveWorld&) = delete;
    /// What was done until now is durable; the calls from here on are recorded.
    void begin() {
        REQUIRE(world.run(world.fs->begin_sync_all(world.call())) == 0);
        below_ = std::move(world.fs);
        history = std::make_unique<LiveHistory>(*below_, most_bytes_, [this] { return milliseconds; });
        world.fs.reset(&history->fs());
    }
    void put(std::string_view name, const std::string& text, Ino in = root_ino) {
        const Ino old = world.find(name, in);
        const Ino ino = old == Ino{0} ? world.create(name, in) : old;
        REQUIRE(world.write(ino, 0, text) == 0);
    }
    [[nodiscard]] std::string get(std::string_view name, Ino in = root_ino) {
        const Ino ino = world.find(name, in);
        return ino == Ino{0} ? "(none)" : world.contents(ino);
    }
    /// The power fails; the tree is settled as the model says, and compared with what was drawn.
    void cut(const std::string& model, std::uint64_t seed) {
        const Past past{history->history(world.now)};
        leave();
        world.crash(seed);
        const Persistence persistence = *find_persistence(model);
        const LeftState state{past, persistence, StateOrder{past, persistence, seed}.draw_at(past.size())};
        TreeSettler settler{*world.fs, past, state, world.call()};
        CHECK(settler.run() == "");
        world.now = std::max(world.now, settler.now());
        lost = state.lost().size();
        compare(past, state.tree());
        world.check();
        world.remount(); // what was settled is durable
        compare(past, state.tree());
    }

    FsWorld world;
    std::unique_ptr<LiveHistory> history;
    std::uint64_t milliseconds = 0;
    std::size_t lost = 0;

private:
    void leave() {
        (void)world.fs.release();
        world.fs = std::move(below_);
    }
    void compare(const Past& past, const LeftTree& tree) {
        std::map<std::uint64_t, Ino> directories{{root_number, root_ino}};
        std::map<std::pair<std::uint64_t, std::string>, const LeftName*> wanted;
        for (const LeftName& name : tree.names) {
            if (name.ino == nameless_folder) continue;
            const std::string last = name.path.substr(name.path.rfind('/') + 1);
            wanted[{name.parent, last}] = &name;
            const Ino found = name.parent == nameless_folder ? Ino{name.ino} : world.find(last, directories.at(name.parent));
            CAPTURE(name.path);
            REQUIRE(found != Ino{0});
            directories.insert_or_assign(name.ino, found);
            CHECK((world.stat(found).mode & S_IFMT) == (name.mode & S_IFMT));
            if (S_ISREG(name.mode)) compare_file(past, tree.files.at(name.ino), found);
        }
        for (const std::uint32_t i : past.name_lines()) {
            const Operation& line = past.line(i);
            const auto in = directories.find(line.parent);
            if (in == directories.end() || line.parent == nameless_folder || line.name == nameless_folder_name) continue;
            CAPTURE(past.told(i));
            CHECK((world.find(line.name, in->second) != Ino{0}) == wanted.contains({line.parent, line.name}));
        }
    }
    void compare_file(const Past& past, const LeftFile& file, Ino ino) {
        const FilePast* concerned = past.file(file.ino);
        if (concerned == nullptr) return;
        CHECK(world.stat(ino).size == file.size);
        CHECK((world.stat(ino).mode & 07777) == (file.mode & 07777));
        auto left = file.pages.begin();
        for (const auto& [number, versions] : concerned->pages) {
            const std::uint64_t at = number * std::uint64_t{page_bytes};
            if (at >= file.size) break;
            std::array<std::byte, page_bytes> want{}, older{};
            while (left != file.pages.end() && left->page < number) ++left;
            if (left != file.pages.end() && left->page == number) {
                past.compose(file.ino, number, left->version, want);
                past.compose(file.ino, number, left->sectors == 0xff ? left->version : left->older, older);
                for (std::size_t i = 0; i < page_bytes; ++i)
                    if ((left->sectors >> (i / 512) & 1) == 0) want[i] = older[i];
            }
            const std::size_t bytes = std::min<std::uint64_t>(page_bytes, file.size - at);
            CHECK(world.read(ino, at, bytes) == std::string(reinterpret_cast<const char*>(want.data()), bytes));
        }
        for (const auto& [name, value] : file.xattrs) {
            const auto got = world.fs->get_xattr(world.call(), ino, name);
            REQUIRE(got.has_value());
            CHECK(std::string(reinterpret_cast<const char*>(got->value.data()), got->value.size()) == value);
        }
    }

    std::uint64_t most_bytes_;
    std::unique_ptr<FileSystem> below_;
};

/// Calls as a program might make them, on few names, so that they meet.
class DrawnProgram {
public:
    DrawnProgram(LiveWorld& live, std::uint64_t seed) : live_{live}, random_{seed} {}
    void step() {
        FsWorld& w = live_.world;
        const Ino in = directory();
        const std::string name = this->name();
        const Ino file = w.find(name, in);
        const bool is_file = file != Ino{0} && S_ISREG(w.stat(file).mode);
        live_.milliseconds += random_.below(40);
        switch (random_.below(14)) {
        case 0:
        case 1:
            if (file == Ino{0}) (void)w.create(name, in);
            return;
        case 2:
        case 3:
        case 4:
            if (is_file) CHECK(w.write(file, w.stat(file).size, text()) == 0);
            return;
        case 5:
            if (is_file) CHECK(w.write(file, random_.below(w.stat(file).size + 1), text()) == 0);
            return;
        case 6:
            if (is_file) CHECK(w.truncate(file, random_.below(12'000)) == 0);
            return;
        case 7:
        case 8:
            if (is_file) (void)w.rename(in, name, directory(), this->name());
            return;
        case 9:
            if (is_file) (void)w.unlink(name, in);
            return;
        case 10:
            if (is_file) (void)w.fs->link(w.call(), file, directory(), this->name());
            return;
        case 11:
            if (file == Ino{0}) (void)w.mkdir(name, in);
            if (file != Ino{0} && !is_file) (void)w.fs->remove_directory(w.call(), in, name);
            return;
        case 12:
            if (is_file) (void)w.fs->set_xattr(w.call(), file, "user.a", std::as_bytes(std::span{name}), XattrMode::any);
            return;
        default:
            if (random_.chance(1, 8)) CHECK(w.run(w.fs->begin_sync_all(w.call())) == 0);
            if (is_file) CHECK(w.sync(file) == 0);
        }
    }

private:
    Ino directory() {
        const Ino d = random_.chance(1, 2) ? live_.world.find(random_.chance(1, 2) ? "d" : "b") : root_ino;
        return d != Ino{0} && S_ISDIR(live_.world.stat(d).mode) ? d : root_ino;
    }
    std::string name() { return std::string(1, static_cast<char>('a' + random_.below(6))); }
    std::string text() { return std::string(1 + random_.below(9000), static_cast<char>('A' + random_.below(26))); }

    LiveWorld& live_;
    Random random_;
};

} // namespace

TEST_CASE("whatever a program does on an old tree, a cut leaves the drawn state, sound, on both metadata stores", "[apps][persistence][live]") {
    const std::string model = GENERATE("ext4", "xfs", "btrfs", "posix");
    const std::uint64_t store = GENERATE(std::uint64_t{4u << 20}, FsWorld::in_journal);
    std::size_t lost = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(model, store, seed);
        LiveWorld live{store};
        const Ino d = live.world.mkdir("d");
        live.put("a", std::string(9000, '1'));
        live.put("b", "old b");
        live.put("c", std::string(20'000, '3'), d);
        live.put("bystander", "still", d);
        live.begin();
        DrawnProgram program{live, seed};
        for (std::uint64_t steps = 3 * seed; steps > 0; --steps) program.step();
        live.cut(model, seed);
        lost += live.lost;
        CHECK(live.get("bystander", d) == "still");
    }
    CHECK(lost > 100); // a model that loses nothing was not tried
}

TEST_CASE("what comes back after a lost unlink has its bytes, its owner and its rights", "[apps][persistence][live]") {
    const std::uint64_t store = GENERATE(std::uint64_t{4u << 20}, FsWorld::in_journal);
    bool came_back = false;
    for (std::uint64_t seed = 1; seed <= 20 && !came_back; ++seed) {
        LiveWorld live{store};
        const std::string old = std::string(5000, 'x') + "end";
        live.put("a", old);
        AttributeChange change;
        change.which = AttributeChange::uid | AttributeChange::gid | AttributeChange::mode;
        change.new_uid = 12;
        change.new_gid = 34;
        change.new_mode = 0640;
        REQUIRE(live.world.fs->change_attributes(live.world.call(), live.world.find("a"), change).has_value());
        live.begin();
        REQUIRE(live.world.unlink("a") == 0);
        live.cut("posix", seed);
        const Ino back = live.world.find("a");
        if (back == Ino{0}) continue;
        came_back = true;
        CHECK(live.world.contents(back) == old);
        CHECK(live.world.stat(back).uid == 12);
        CHECK(live.world.stat(back).gid == 34);
        CHECK((live.world.stat(back).mode & 07777) == 0640);
    }
    CHECK(came_back);
}

TEST_CASE("a live history is empty after a sync of everything, and syncs by itself at its bound", "[apps][persistence][live]") {
    const std::uint64_t store = GENERATE(std::uint64_t{4u << 20}, FsWorld::in_journal);
    constexpr std::uint64_t bound = 64 * 1024;
    LiveWorld live{store, bound};
    live.begin();
    for (int i = 0; i < 200; ++i) {
        live.put("a", std::string(3000, static_cast<char>('a' + i % 26)));
        REQUIRE(live.history->bytes() < bound + 16 * 1024);
    }
    CHECK(live.history->own_syncs() > 5);
    REQUIRE(live.world.run(live.world.fs->begin_sync_all(live.world.call())) == 0);
    const auto own = live.history->own_syncs();
    live.put("b", "1");
    CHECK(live.history->bytes() < 3000);
    CHECK(live.history->own_syncs() == own);
    live.cut("posix", 5);
    CHECK(live.get("a") == std::string(3000, 'a' + 199 % 26));
}

TEST_CASE("an old file that is larger than the bound goes for good, and then the history begins anew", "[apps][persistence][live]") {
    LiveWorld live{4u << 20, 64 * 1024};
    live.put("large", std::string(300'000, 'x'));
    live.begin();
    live.put("kept", "1");
    REQUIRE(live.world.unlink("large") == 0);
    const Past past{live.history->history(live.world.now)};
    CHECK(find_unsynced(past, *find_persistence("posix"), past.size()).names.empty());
    live.put("later", "2");
    CHECK(live.history->own_syncs() == 1);
    live.cut("posix", 1);
    CHECK(live.get("large") == "(none)");
    CHECK(live.get("kept") == "1");
}

TEST_CASE("a sync that a cut begins by itself keeps nothing that nobody synced", "[apps][persistence][live]") {
    LiveWorld live{4u << 20};
    live.begin();
    live.put("a", "1");
    live.history->begin_cut();
    REQUIRE(live.world.run(live.world.fs->begin_sync_all(live.world.call())) == 0);
    const Past past{live.history->history(live.world.now)};
    const auto posix = *find_persistence("posix");
    const auto left = find_unsynced(past, posix, past.size());
    CHECK(left.names.size() == 1);
    CHECK(left.writes.size() == 1);
}

TEST_CASE("what is done while a sync of everything is under way stays in the history", "[apps][persistence][live]") {
    const bool overlap = GENERATE(false, true); // with a second sync, which began later
    LiveWorld live{4u << 20};
    live.begin();
    live.put("a", "1");
    auto sync = live.world.fs->begin_sync_all(live.world.call());
    REQUIRE(sync.has_value());
    live.put("b", "2");
    const auto second = overlap ? live.world.fs->begin_sync_all(live.world.call()) : FsResult<std::unique_ptr<SlowCall>>{};
    REQUIRE(live.world.run(std::move(sync)) == 0);
    live.world.now += Duration{1'000'000'000};
    live.put("c", "3");
    const std::vector<Operation> history = live.history->history(live.world.now);
    for (const char* name : {"b", "c"})
        CHECK(std::ranges::any_of(history, [&](const Operation& line) { return line.act == Act::make && line.name == name; }));
}
