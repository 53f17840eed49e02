/**
 * Says how many bytes the first page of Headlamp takes, as a peer of `skerry bench console --loads first-page`:
 *   node dev/hack/headlamp.ts DIRECTORY
 * The directory is a clone of https://github.com/kubernetes-sigs/headlamp. Its pages are built there unless they are
 * already: npm fetches 1,310 packages, and the build takes minutes and 6 GB of memory. Nothing runs but npm and Vite.
 */
import { execFileSync } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ExpectedError, exitCodes } from '@skerry/base'

const [directory] = process.argv.slice(2)
const heapMegabytes = 6_144

async function main(): Promise<void> {
  if (directory === undefined) {
    throw new ExpectedError('Cannot measure Headlamp: name the clone of it', exitCodes.usage)
  }
  const frontend = join(directory, 'frontend')
  const built = join(frontend, 'build')
  if (!(await isThere(join(built, 'index.html')))) buildPages(frontend)
  const page = await readFile(join(built, 'index.html'))
  let bytes = gzipSync(page, { level: 9 }).length
  for (const file of filesOf(page.toString('utf8'))) {
    const compressed = gzipSync(await readFile(join(built, file)), { level: 9 }).length
    console.log(`${file}: ${inKilobytes(compressed)}`)
    bytes += compressed
  }
  console.log(`first page: ${inKilobytes(bytes)}`)
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function buildPages(cwd: string): void {
  const env = { ...process.env, NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` }
  const options = { cwd, env, stdio: 'inherit' } as const
  execFileSync('nice', ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund'], options)
  execFileSync('nice', ['npx', 'vite', 'build'], options)
}

/** Lists the scripts and style sheets that the page itself names: a browser loads them before anything is drawn. */
function filesOf(page: string): string[] {
  return [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, file = '']) => file)
}

function inKilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`
}

await main()
