import type { Mutant } from './mutant.ts'

const script = 'roles/program/install-script.ts'
const scriptTest = 'roles/program/install-script.test.ts'
const line = 'roles/program/machine-line.ts'
const lineTest = 'roles/program/machine-line.test.ts'
const route = 'roles/program/program-route.ts'
const routeTest = 'roles/hub/hub-program.test.ts'
const downloads = 'roles/program/downloads.ts'

/** The mutants of promises about bare machines that join by a copied line. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'a script with another hash, and none at all, is not run',
    test: lineTest,
    file: line,
    find: '| sha256sum -c --quiet`',
    replace: '| sha256sum -c --quiet || true`',
  },
  {
    proof: 'a line runs the script with its words, and the token on standard input',
    test: lineTest,
    file: line,
    find: `sh "$f" \${words`,
    replace: `sh "$f" \${token} \${words`,
  },
  {
    proof: 'of a changed archive nothing is unpacked',
    test: scriptTest,
    file: script,
    find: '| sha256sum -c --status && return\n',
    replace: '| sha256sum -c --status || return 0\n  return 0\n',
  },
  {
    proof: 'a script that was cut anywhere before its end does nothing',
    test: scriptTest,
    file: script,
    find: `say() {
  printf`,
    replace: `fail() { echo "Cannot join"; }
fail
say() {
  printf`,
  },
  {
    proof: 'a server that sends without an end fills no disk',
    test: scriptTest,
    file: script,
    find: '  ulimit -f "$(($3 / 512 + 1))"\n',
    replace: '  ulimit -f "$(($3 * 10))"\n',
  },
  {
    proof: 'nothing but the program is served, and nobody can write it',
    test: routeTest,
    file: route,
    find: "    const isRead = verb === 'get' || verb === 'head'\n",
    replace: '    const isRead = true\n',
  },
  {
    proof: 'above the bound the slowest reader gives way, and readers that move are left alone',
    test: 'roles/program/downloads.test.ts',
    file: downloads,
    find: 'each.movedMs < slow.movedMs ? each : slow',
    replace: 'each.movedMs > slow.movedMs ? each : slow',
  },
  {
    proof: 'readers that take nothing hold neither others nor themselves',
    test: routeTest,
    file: downloads,
    find: '    if (ofSource.length >= ofSourceMax) this.#makeRoom(ofSource)\n',
    replace: '',
  },
  {
    proof: 'a range that is not there, and ten thousand ranges, get no byte',
    test: routeTest,
    file: 'roles/program/byte-range.ts',
    find: "if (field.length > rangeCharactersMax || field.includes(',')) return 'none'\n",
    replace: '',
  },
]
