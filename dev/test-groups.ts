import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Files that one process runs one after the other, or one file that needs a process of its own. */
export interface TestGroup {
  readonly name: string
  readonly files: readonly string[]
}

/**
 * A file needs a process of its own if it has hooks of the root suite, changes or measures the process, or executes
 * itself. All others share one: starting Node and loading the product costs more than most files' tests.
 */
const ownProcess =
  /^(?:before|after|beforeEach|afterEach)\(|process\.(?:env|on|once|exit|chdir|argv|execArgv|memoryUsage)\b|globalThis\.|import\.meta\.filename|mock\.timers|getActiveResources/m

/**
 * Files that take over 20 s each. They come first, so that no processor is idle while the last of them ends.
 */
const longFiles: readonly string[] = [
  'packages/provisioning/shell/ssh-shell.test.ts',
  'packages/provisioning/ensure/hostile-fields.test.ts',
  'packages/provisioning/shell/ssh-jumps.test.ts',
  'packages/kubelet/half-done-work.test.ts',
  'roles/site/masters/masters.test.ts',
  'packages/store/etcd/etcd-store.test.ts',
  'packages/provisioning/ensure/copied-packages.test.ts',
  'roles/hub/hub-replicas.test.ts',
  'roles/agent/virtual-clusters-change.test.ts',
  'packages/etcd-server/store-contract.test.ts',
  'packages/apiserver/subresources/backend/odd-answers.test.ts',
]

/** The number of files that share a process: enough that its start is cheap, few enough that groups end together. */
const groupFilesMax = 12

/**
 * End-to-end files that take over a minute, the longest first, so that no processor is idle while the last of them ends.
 * Those that mostly wait stand between those that compute.
 */
const longStories: readonly string[] = [
  'edge-masters',
  'console',
  'second-node',
  'embedded-etcd',
  'ways',
  'clocks',
  'offline-masters',
  'service-groups',
  'edge-cluster',
  'masters-killed',
  'offline-package',
  'agent-pod',
  'upgrade',
  'edge-growth',
]

/** The longest story. It waits for three masters most of its time, so that it runs at the same time as the others. */
const waitingStory = 'masters-cut'

const isStory = (file: string, name: string): boolean => file.endsWith(`/${name}.test.ts`)

export interface OrderedStories {
  readonly waiting: readonly string[]
  /** The longest first. */
  readonly others: readonly string[]
}

/** Divides the end-to-end files of `files` into the one that runs at the same time as the others, and these. */
export function orderStories(files: readonly string[]): OrderedStories {
  const place = (file: string): number => {
    const index = longStories.findIndex((name) => isStory(file, name))
    return index === -1 ? longStories.length : index
  }
  return {
    waiting: files.filter((file) => isStory(file, waitingStory)),
    others: files
      .filter((file) => !isStory(file, waitingStory))
      .toSorted((a, b) => place(a) - place(b)),
  }
}

function isLong(file: string, root: string): boolean {
  return longFiles.some((long) => file === join(root, long))
}

/** Names of files that play hostile and odd peers, damage, crashes and full disks: a quarter of the time of all. */
const playsFaults =
  /(?:^|[/-])(?:crash|damaged|faults|full-disk|fuzz|half-done|hostile|odd|power-cut|stalled|unread)[-.]/

/** Reports whether somebody who wants a quick answer waits for this file. */
export function isQuick(file: string, root: string): boolean {
  return !isLong(file, root) && !playsFaults.test(basename(file))
}

/** Groups `files`, which are paths below `root`: the long ones first, each alone, then the others. */
export function groupTests(files: readonly string[], root: string): TestGroup[] {
  const long = files.filter((file) => isLong(file, root))
  const others = files.filter((file) => !isLong(file, root))
  const needsOwn = (file: string): boolean => ownProcess.test(readFileSync(file, 'utf8'))
  const alone = others.filter(needsOwn)
  const shared = others.filter((file) => !alone.includes(file))
  const groups = [...long, ...alone].map((file) => ({ name: file, files: [file] }))
  for (let start = 0; start < shared.length; start += groupFilesMax) {
    const part = shared.slice(start, start + groupFilesMax)
    groups.push({ name: `${part[0] ?? ''} and ${part.length - 1} more`, files: part })
  }
  return groups
}

/** Writes a module into `directory` that imports the group's files; returns its path, or that of a single file. */
export function writeGroup(group: TestGroup, directory: string, index: number): string {
  const [first] = group.files
  if (first !== undefined && group.files.length === 1) return first
  const path = join(directory, `group-${index}.test.mjs`)
  const lines = group.files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)}\n`)
  writeFileSync(path, lines.join(''))
  return path
}
