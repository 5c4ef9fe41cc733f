package shell

import (
	"strings"
	"testing"
)

// ordinary are command lines of real repositories, with values in « ». They stay accepted, as a script of sh and of bash,
// as a list, and as what an agent is started with. "quoted" words are as a shell has them.
const ordinary = `
gh pr create --title "«x»" --body "«y»"
gh pr create --fill --base main --head "release/«x»"
gh pr comment 12 --body "«x»"
gh issue create --title "«x»" --label bug
gh release create "v«x»" --notes "«y»"
gh api "repos/o/r/issues/«x»/comments" -f "body=«y»"
git commit -m "«x»"
git commit -am "fix: «x»"
git commit --allow-empty --message "«x»"
git checkout -b "«x»"
git checkout "«x»"
git switch -c "feature/«x»"
git branch -D "«x»"
git tag -a "v«x»" -m "«y»"
git push origin "HEAD:refs/heads/«x»"
git push origin -- "«x»"
git push origin "v«x»"
git log --oneline "main..«x»"
git log -- "«x»"
git diff --stat "origin/«x»...HEAD"
git add -- "«x»"
git config user.name "«x»"
git rev-parse --short "«x»"
git clone --depth 1 --branch "«x»" https://example.com/r.git
git worktree add "../wt-«x»" main
docker build -t "app:«x»" .
docker build --build-arg "VERSION=«x»" -t app .
docker tag app:latest "registry/app:«x»"
docker push "registry/app:«x»"
docker push "«x»"
docker run --rm -e "NAME=«x»" app:latest ./main
docker run --rm app:latest echo "«x»"
docker compose up -d "«x»"
kubectl set image deploy/web "web=img:«x»"
kubectl -n "«x»" rollout status deploy/web
kubectl apply -n prod -f "manifests/«x».yaml"
kubectl get pods -l "app=«x»" -o json
helm upgrade --install web ./chart --set "image.tag=«x»" --namespace "«y»"
curl -H "X-Title: «x»" "https://host/«y»"
curl -fsS -X POST -d "{\"a\": \"«x»\"}" https://host/hook
curl --data-urlencode "text=«x»" https://host/
curl -sSfL "https://host/«x».tgz" -o out.tgz
wget -q "https://host/«x»"
go test ./...
go test -run "«x»" ./...
go build -o "bin/«x»" ./cmd/app
go run ./cmd/report "«x»"
make test
make -C "«x»" build
npm run build -- "«x»"
npm ci
npx prettier --check -- "«x»"
npm version "v«x»"
cargo test -p "«x»"
cargo run -- "«x»"
aws s3 cp f "s3://b/«x»"
aws ecs update-service --cluster "«x»" --service web --force-new-deployment
aws lambda update-function-code --function-name "«x»" --zip-file fileb://f.zip
terraform apply -auto-approve -var "x=«x»"
terraform plan -var "region=«x»" -out plan.bin
terraform workspace select "env-«x»"
claude -p "«x»"
codex exec "«x»"
gemini -p "«x»"
python3 script.py "«x»"
python3.12 script.py "«x»"
bash5 deploy.sh "«x»"
python3 -m pytest -k "«x»"
python3 tools/report.py --title "«x»" --n=3
node scripts/build.js "«x»"
bash scripts/deploy.sh "«x»"
./deploy.sh "«x»"
./gradlew-wrapper.sh "«x»"
scripts/release.sh --version "«x»" "«y»"
jq --arg v "«x»" '.a = $v' f.json
jq -n --arg title "«x»" '{title: $title}'
jq -r .name "«x»"
grep -F -- "«x»" file
grep -rn "«x»" src
psql -v "v=«x»" -f query.sql
sqlite3 db.sqlite .tables
tar czf out.tgz -- "«x»"
tar czf "out-«x».tgz" dir
tar xzf f.tgz -C "dir/«x»"
rsync -a "dir/«x»/" host:/srv/
rsync -a -- "«x»" host:/srv/
scp -- "«x»" host:/srv/
ssh host ls
sed -n 1,20p -- "«x»"
awk -v "v=«x»" '{print v, $1}' f
find . -name "«x»" -type f
sort -- "«x»"
cp -- "«x»" "out/«y»"
cp "in/«x»" out/
mv "a-«x»" "b-«x»"
mkdir -p "out/«x»"
rm -rf "build/«x»"
rm -f "«x»"
cat "«x»"
echo "«x»"
printf '%s\n' "«x»"
test -n "«x»"
head -n 20 "«x»"
date -d "«x»" +%s
timeout 60 ./slow.sh "«x»"
env "NAME=«x»" ./run.sh
nice -n 10 make test
xargs -a list.txt echo
ffmpeg -i "in/«x».mp4" "out/«x».webm"
ansible-playbook -i hosts --limit "«x»" site.yml
mytool --title "«x»" --config=a.yml
mytool import -- "«x»"
slack-notify --channel "#«x»" --text "«y»"
poetry run pytest -k "«x»"
zip -r out.zip "dir/«x»"
git -c "user.name=«x»" commit -m a
git -c "http.extraHeader=X: «x»" fetch
cmake "-DAPP_VERSION=«x»" .
cmake "-DFOO=«x»" -B build
cmake --build build --target "«x»"
mvn versions:set "-DnewVersion=«x»"
mvn "-Dtest=«x»" test
gradle build --tests "«x»"
gradle build "--tests=«x»"
redis-cli SET k "«x»"
redis-cli -h host SET "k:«x»" "«y»"
pip install "requests==«x»"
apt-get install -y "nginx=«x»"
ssh-keygen -t ed25519 -C "«x»" -f key
ping -c 1 "«x»"
dig "«x»"
systemctl restart -- "«x»"
command -v "«x»"
python3 -m pip install "requests==«x»"
python3 -m json.tool "in/«x».json"
bash +e scripts/deploy.sh "«x»"
bash -euo pipefail scripts/deploy.sh "«x»"
perl script.pl "«x»"
perl -e 'print $ARGV[0]' -- "«x»"
uv run --with requests ./a.py "«x»"
cross-env "APP_ENV=«x»" node a.js
docker run --entrypoint=sh app:latest ./own.sh "«x»"
pytest -k "«x»" tests
`

// wordsOfLine are the words of a line, without its quotes.
func wordsOfLine(line string) (out []string) {
	var w strings.Builder
	quote, open := rune(0), false
	escaped := false
	for _, c := range line + " " {
		switch {
		case escaped:
			w.WriteRune(c)
			escaped = false
		case c == '\\' && quote == '"':
			escaped = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, open = c, true
		case quote == 0 && c == ' ':
			if w.Len() > 0 || open {
				out = append(out, w.String())
			}
			w.Reset()
			open = false
		default:
			w.WriteRune(c)
		}
	}
	return out
}

func TestOrdinaryLines(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(ordinary), "\n")
	if len(lines) < 60 {
		t.Fatalf("%d lines", len(lines))
	}
	task := Part{Value: true, Text: "the task"}
	agent := Around{Stdin: &task, Env: func(name string) (Part, bool) { return task, name == "FLOWRUN_TASK" }}
	for _, line := range lines {
		for _, d := range []Dialect{POSIX, Bash} {
			for name, a := range map[string]Around{"script": {}, "agent's script": agent} {
				if _, list := a.Rewrite(cut(line), d, place); len(list) > 0 {
					t.Errorf("%s, %s of %s: %s: %s", line, name, d, list[0].Code, list[0].Summary)
				}
			}
		}
		var words [][]Part
		for _, w := range wordsOfLine(line) {
			words = append(words, cut(w))
		}
		for name, a := range map[string]Around{"list": {}, "agent": agent} {
			if list := a.Argv(words); len(list) > 0 {
				t.Errorf("%s, %s: %s: %s", line, name, list[0].Code, list[0].Summary)
			}
		}
	}
	t.Logf("%d lines", len(lines))
}

// Each row of the table says where it is written.
func TestSources(t *testing.T) {
	var look func(rows []row)
	n := 0
	look = func(rows []row) {
		for _, r := range rows {
			n++
			if r.source == "" || r.names == "" {
				t.Errorf("row %q has no source", r.names)
			}
			look(r.below)
		}
	}
	look(safeRows())
	look(rows())
	look(moduleRows())
	look(deciding())
	t.Logf("%d rows, %d programs, %d variables", n, len(tables().tools), len(tables().settings)+len(tables().prefixes))
}
