package shell

import (
	"strings"
	"testing"
)

// Programs of the table under other names and paths, behind others, and their options: each value here decides what runs.
func TestRelatives(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
busybox sh -c "«x»"
toybox sh -c "«x»"
busybox "«x»"
/usr/bin/env bash -c "«x»"
/usr/local/bin/bash5 -c "«x»"
python3.12 -c "«x»"
perl5.36 -e "«x»"
node20 -e "«x»"
gcc-13 -wrapper "«x»" a.c
timeout 5 bash -c "«x»"
timeout -k 1 5 nice -n 3 sh -c "«x»"
stdbuf -oL sh -c "«x»"
sudo -u me sh -c "«x»"
doas sh -c "«x»"
su -c "«x»" me
script -c "«x»" /dev/null
watch -n 1 "«x»"
ssh host "«x»"
ssh -o "ProxyCommand=«x»" host
ssh "«x»"
docker exec c sh -c "«x»"
docker exec -it c "«x»"
docker compose exec web sh -c "«x»"
docker compose run --rm web "«x»"
docker run --rm img sh -c "«x»"
docker run --rm --entrypoint sh img -c "«x»"
docker run --rm --entrypoint "«x»" img
docker run "«x»"
podman exec c bash -lc "«x»"
kubectl exec p -- sh -c "«x»"
kubectl exec -it deploy/x -c c -- "«x»"
kubectl exec p -- timeout 5 bash -c "«x»"
kubectl run p --image=i -- sh -c "«x»"
kubectl --kubeconfig "«x»" get pods
nix-shell --run "«x»"
flock l -c "«x»"
unshare sh -c "«x»"
strace -f sh -c "«x»"
time -p sh -c "«x»"
chroot / sh -c "«x»"
find . -exec sh -c "«x»" ;
find . -exec "«x»" ;
find . -print "«x»"
parallel "«x»"
make "SHELL=«x»"
make -f Makefile "X=«x»"
git -c "alias.x=!«x»" x
git -c "core.sshCommand=«x»" fetch
git --exec-path="«x»" log
git config core.pager "«x»"
git config "«x»" y
git log "--output=«x»" "«y»"
git log "«x»"
git fetch --upload-pa "«x»" origin
git clone --template "«x»" r
git submodule foreach "«x»"
git bisect run "«x»"
git grep -O"«x»" y
npm exec -- "«x»"
npx -c "«x»"
npx "«x»"
npm install "«x»"
npm config set script-shell "«x»"
pip install "«x»"
uv run "«x»"
poetry run "«x»"
bundle exec sh -c "«x»"
aws-vault exec p -- sh -c "«x»"
tar cf a.tar "«x»"
tar -cf "«x»" f
tar cf a.tar --checkpoint-act "exec=«x»" f
tar -I "«x»" -xf f
rsync -e "«x»" a b
rsync "«x»" b
go run -exec "«x»" .
go run "«x»"
go test -exec "«x»" ./...
go build -ldflags "-X main.v=«x»"
go vet -vettool "«x»"
cargo --config "«x»" build
terraform init -plugin-dir "«x»"
helm template c --post-renderer "«x»"
gawk "«x»" f
mawk -W exec "«x»"
sed -e "s/a/«x»/" f
vim -c "«x»" f
less "«x»"
psql -c "«x»"
sqlite3 f.db "«x»"
sqlite3 -cmd .help f.db "«x»"
redis-cli eval "«x»" 0
gdb -ex "«x»" a
curl -K "«x»"
curl "«x»"
curl -o "«x»" https://h/
wget -e "«x»" https://h/
convert "«x»" a.png
claude --mcp-config "«x»" -p hi
claude -p hi "«x»" "«y»"
codex -c "«x»" exec hi
gcloud compute ssh h --command "«x»"
az vm run-command invoke --scripts "«x»"
adb shell "«x»"
lxc exec c -- sh -c "«x»"
multipass exec vm -- "«x»"
unknown-tool "«x»"
sh -c '$0 a' "«x»"
sh -c 'exec "$@"' sh "«x»"
sh -c 'git log "$1"' sh "«x»"
bash -c 'sh -c "$1"' bash "«x»"
unknown-tool --verbose "«x»"
unknown-tool -v "«x»"
/opt/tool "«x»"
python3 -mpip install "«x»"
python3 -Im pdb "«x»"
python3 -m "«x»"
perl -Mstrict "«x»"
ruby -rjson "«x»"
node -r ./a.js "«x»"
java -cp a.jar "«x»"
uv run --with a sh -c "echo «x»"
npx -p a sh -c "echo «x»"
zsh -oerrexit -c "echo «x»"
perl5.36 -ne 1 -- "«x»"
nsenter -t 1 -m -- sh -c "echo «x»"
yq eval ".a = \"«x»\"" f
apt-get install "«x»"
pip install "a @ «x»"
cmake "-DLLVM_DIR=«x»" .
cmake -D "CMAKE_C_COMPILER=«x»" .
python3 -m pip install "«x»"
python3 -m timeit "«x»"
python3 -m pdb "«x»"
bash +e -c "echo «x»"
bash +x -c "echo «x»"
bash -eoc pipefail "echo «x»"
runuser -u nobody -- sh -c "echo «x»"
su nobody -s /bin/sh -- -c "echo «x»"
nsenter -t 1 sh -c "echo «x»"
go vet "--vettool=«x»"
go build --ldflags "-X main.v=«x»"
go build "--toolexec=«x»"
terraform init "--plugin-dir=«x»"
terraform init "-from-module=«x»"
pip install -e "«x»"
pip install -r "«x»"
pip install -i "«x»" a
pip install "--index-url=«x»" a
pip install --extra-index-url "«x»" a
pip install --find-links "«x»" a
uv run --with "«x»" a.py
uvx --from "«x»" a
docker run --entrypoint=sh img -c "echo «x»"
docker run "--entrypoint=«x»" img
docker run --health-cmd "echo «x»" img
psql "--output=«x»" -f q.sql
psql "-o«x»" -f q.sql
strace "-o«x»" ls
perl -ane 1 -- "«x»"
perl -F: -e 1 -- "«x»"
perl -e "while (<>) {}" -- "«x»"
perl -e "print <ARGV>" -- "«x»"
node "--test-reporter=«x»" --test a.js
unzip -o a.zip -- "«x»"
sed "--ex=s/a/«x»/" f
sed "--in-place=«x»" s/a/b/ f
git config lfs.customtransfer.x.path "«x»"
gcloud compute ssh vm -- "ls «x»"
aws ecs execute-command --command "ls «x»"
az container exec --exec-command "ls «x»"
az container create --command-line "ls «x»"
az acr run --cmd "ls «x»" .
doppler run "--command=echo «x»"
infisical run "--command=echo «x»"
doppler run --command "echo «x»"
sops exec-env f "echo «x»"
direnv exec . sh -c "echo «x»"
sftp -b "«x»" host
lftp -c "get «x»"
lftp -e "get «x»" host
smbclient //h/s -c "get «x»"
sqlplus "«x»"
cross-env "NODE_OPTIONS=«x»" node a.js
cross-env-shell "echo «x»"
cross-env A=b sh -c "echo «x»"
nodemon "--exec=echo «x»" a.js
nodemon --exec "echo «x»" a.js
hyperfine "--prepare=echo «x»" ls
hyperfine --prepare "echo «x»" ls
yq e -i ".a = \"«x»\"" f
pytest -- "«x»"
mocha -- "«x»"
rename "s/a/«x»/" f
mlr filter "«x»" f
less "+/«x»" f
java "-XX:OnOutOfMemoryError=«x»" -jar a.jar
emacs --execute "«x»"
emacsclient --eval "«x»"
emacsclient -e "«x»"
say "«x»"
cmake "-D«x»" .
cmake "-DCMAKE_C_COMPILER=«x»" .
cmake "-DCMAKE_CXX_COMPILER_LAUNCHER=«x»" .
mvn "-Dexec.executable=«x»" exec:exec
mvn "-DargLine=«x»" test
mvn "«x»"
redis-cli eval "return «x»" 0
redis-cli script load "return «x»"
redis-cli "«x»" a
apt-get install -o "«x»" a
git -c "http.proxyAuthMethod=«x»" -c "core.pager=«x»" log
git -c "«x»=a" log
`), "\n") {
		var words [][]Part
		for _, w := range wordsOfLine(line) {
			words = append(words, cut(w))
		}
		if len(Around{}.Argv(words)) == 0 {
			t.Errorf("accepted in a list: %s", line)
		}
		if _, found := Rewrite(cut(strings.ReplaceAll(line, " ;", ` \;`)), POSIX, place); len(found) == 0 {
			t.Errorf("accepted in a script: %s", line)
		}
	}
}

// What a program runs of its standard input, for lists and for scripts.
func TestStdin(t *testing.T) {
	value := Part{Value: true, Text: "x"}
	a := Around{Stdin: &value}
	for line, refused := range map[string]bool{
		"sh": true, "bash -s": true, "sh -s -- a": true, "/usr/bin/env bash": true, "timeout 5 sh": true, "nice python3 -": true, "python3": true, "node": true, "perl": true, "docker exec -i c sh": true, "kubectl exec -i p -- bash": true,
		"sh -c 'cat | sh'": true, "sh -c 'read n; echo $((n))'": true, "bash -c 'source /dev/stdin'": true, "ssh host": true, "xargs sh -c": true, "xargs git log": true, "make -f -": true, "psql db": true, "sqlite3 f.db": true, "awk -f - f": true,
		"cat": false, "sh own.sh": false, "python3 own.py": false, "jq .": false, "sh -c 'cat > f'": false, "xargs echo": false, "xargs git log --": false, "grep a": false, "docker login -u me --password-stdin": false, "psql -f q.sql": false, "claude -p": false,
		"sh -c 'read -r n; echo \"$n\"'": false, "kubectl apply -f -": false, "git commit -F -": false, "wc -l": false, "tee f": false, "sh -c 'echo true | sh'": false,
	} {
		var words [][]Part
		for _, w := range wordsOfLine(line) {
			words = append(words, cut(w))
		}
		if got := len(a.Argv(words)) > 0; got != refused {
			t.Errorf("list %s: refused %v", line, got)
		}
		if _, list := a.Rewrite(cut(line), POSIX, place); len(list) > 0 != refused {
			t.Errorf("script %s: refused %v", line, !refused)
		}
	}
}

// A variable that holds a value is followed to where bash reads it as a number; a number may stand there.
func TestNumbers(t *testing.T) {
	for script, want := range map[string]string{
		`[[ «n» -gt 3 ]]`: "", `echo $((«n» + 1))`: "", `n=«n»; ((n > 3))`: "", `n=«n»; m=$n; let m=m+1`: "", `declare -i n=«n»`: "", `a[«n»]=1; echo "${a[«n»]}"`: "",
		`n=«x»; ((n > 3))`: "F0233", `n=«x»; echo ${HOME:n}`: "F0233", `export n=«x»; bash -c '((n))'`: "F0233", `n=«x»; [ "$n" -gt 3 ]`: "",
		`n=«x»; n=$(printf %s "$n" | wc -c); ((n))`: "F0233", `n=«x»; m=$(printf %s "$n" | wc -c); ((m))`: "", `printf '%s\n' «x» | while read -r n; do echo $((n)); done`: "F0233", `IFS=, read -r a b <<< «x»; ((b))`: "F0233",
	} {
		parts := cut(script)
		for i := range parts {
			parts[i].Tame = parts[i].Text == "n"
			parts[i].Plain = parts[i].Tame
		}
		got := ""
		if _, list := Rewrite(parts, Bash, place); len(list) > 0 {
			got = list[0].Code
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}
