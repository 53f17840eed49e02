/** Pastes the tour of README.md unchanged into a root shell on a separate machine. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createTestNetwork, unpackClients, type CommandResult } from '@skerry/testing'
import { exampleArchives } from './example-archives.ts'
import { whyNot } from './prerequisites.ts'

const root = join(import.meta.dirname, '../..')

/** The one line that asks Debian's mirrors, which a test host does not reach. */
const buildLine = 'node_modules/.bin/node examples/build-images.ts /tmp/skerry-images'

async function tourOf(readme: string): Promise<string> {
  const [, after = ''] = (await readFile(readme, 'utf8')).split('## Five minutes')
  const [section = ''] = after.split('\n## ')
  const steps = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text)
  const tour = steps.join('\n')
  assert.ok(tour.includes(buildLine), 'the tour builds the images')
  // The program of that line must be there all the same: the launcher brings it.
  const checkLine = buildLine.replace(/^(\S+) (\S+) .*$/, '$1 --check $2')
  return tour
    .replace(buildLine, checkLine)
    .replaceAll('/tmp/skerry-images', await exampleArchives())
}

interface Machine {
  directory: string
  kubectl: string
}

/** An empty /var/lib, so that `reset` removes nothing of the real one; jobs, for `kill %1`. */
function shellOf({ directory, kubectl }: Machine, tour: string): string {
  return [
    'set -e -m -o pipefail',
    `cd ${root}`,
    `hostname tour-${process.pid}`,
    `mount --bind ${directory} /var/lib`,
    `export PATH=${dirname(kubectl)}:$PATH`,
    tour,
    'echo --- left behind:',
    'find /var/lib -mindepth 1',
    'nft list tables',
    'ip -o link | grep -vE ": (lo|eth0)" || true',
  ].join('\n')
}

async function walk(): Promise<CommandResult> {
  const { kubectl } = await unpackClients()
  const tour = await tourOf(join(root, 'README.md'))
  const directory = await mkdtemp(join(tmpdir(), 'skerry-tour-'))
  try {
    await using network = await createTestNetwork()
    const host = await network.addHost(1)
    // The shell has its own process namespace, so that what the tour kills by name is only what it started.
    const alone = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    const input = shellOf({ directory, kubectl }, tour)
    return await host.run([...alone, 'bash'], { input, timeoutMs: 240_000 })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

test('the tour of the README', { skip: await whyNot(), timeout: 300_000 }, async () => {
  const { stdout, stderr, exitCode } = await walk()
  const story = `${stdout}\n${stderr}`
  assert.equal(exitCode, 0, story)
  const visits = [...stdout.matchAll(/Visits: (\d+)/g)].map(([, count]) => Number(count))
  assert.deepEqual(visits, [1, 2, 3], story)
  assert.match(stdout, /deployment\.apps\/web rolled back/)
  const pods = [...stdout.matchAll(/^(?:redis|web)-\S+ +\d\/1 +\S+ +(\d+) /gm)]
  assert.ok(pods.length >= 3, story)
  assert.ok(
    pods.every(([, restarts]) => restarts === '0'),
    `a container was restarted:\n${story}`,
  )
  const [, left = story] = stdout.split('--- left behind:')
  assert.equal(left.trim(), '', 'reset leaves nothing behind')
})
