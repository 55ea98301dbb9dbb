//! The image without an engine of containers: a folder with what its last stage has, entered as its user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::document::text;

/// Where programs are looked for unless an image says otherwise.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the last stage of the Dockerfile says.
pub(crate) struct Image {
    /// Where the binary is copied to.
    program: String,
    pub(crate) user: String,
    pub(crate) folder: String,
    environment: String,
    health: String,
    start: String,
}

impl Image {
    pub(crate) fn read() -> Self {
        let file = text("ops/docker/Dockerfile").replace("\\\n", " ");
        let (_, last) = file.rsplit_once("\nFROM ").expect("has stages");
        let said = |word: &str| {
            let line = last.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("says no {word}")).trim().to_owned()
        };
        let words = |list: &str| serde_json::from_str::<Vec<String>>(list).expect("is a list").join(" ");
        let health = said("HEALTHCHECK");
        Image {
            program: said("COPY").rsplit_once(' ').expect("has a target").1.to_owned(),
            user: said("USER"),
            folder: said("WORKDIR"),
            environment: said("ENV"),
            health: words(health.split_once("CMD ").expect("has a command").1),
            start: format!("{} {}", words(&said("ENTRYPOINT")), words(&said("CMD"))),
        }
    }

    /// Makes `root` and, beside it, `data`, the one folder that can be written.
    pub(crate) fn make(&self, parent: &Path, binary: &Path) {
        let root = parent.join("root");
        copy(binary, &root, &self.program);
        // What the image it is built on brings along.
        let listed = Command::new("ldd").arg(binary).output().expect("ldd runs").stdout;
        let listed = String::from_utf8(listed).expect("is text");
        for library in listed.split_whitespace().filter(|word| word.starts_with('/')) {
            copy(Path::new(library), &root, library);
        }
        fs::create_dir_all(root.join(self.folder.trim_start_matches('/'))).expect("makes");
        let data = parent.join("data");
        fs::create_dir(&data).expect("makes");
        fs::set_permissions(data, fs::Permissions::from_mode(0o700)).expect("sets");
    }

    /// Runs what the image runs, on a read-only root, until it is well; asks for something; tells it to stop.
    pub(crate) fn script(&self) -> String {
        let Image { folder, environment, health, start, .. } = self;
        let (user, group) = self.user.split_once(':').expect("a user and a group");
        format!(
            r#"set -eu
ip link set lo up
mount --bind root root
mount --bind data "root{folder}"
mount -o remount,ro,bind root
inside="env -i PATH={PATH} {environment} $(command -v unshare) --user --map-user={user} --map-group={group} --root=root --wd={folder}"
$inside {start} & server=$!
trap 'kill -KILL $server' EXIT
tries=0
until $inside {health}; do tries=$((tries + 1)); test $tries -lt 600; sleep 0.1; done
$inside leasehold queue create orders
$inside leasehold queue produce orders --payload x
if touch root/written; then echo "the root can be written"; exit 1; fi
grep CapEff "/proc/$server/status"
trap - EXIT
kill -TERM $server
wait $server
echo "it ended well"
"#
        )
    }
}

fn copy(from: &Path, root: &Path, to: &str) {
    let to = root.join(to.trim_start_matches('/'));
    fs::create_dir_all(to.parent().expect("lies in a folder")).expect("makes");
    fs::copy(from, to).expect("copies");
}
