import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build, type Metafile, type OutputFile } from 'esbuild'
import { checkConsoleBudget, type BuiltPart } from './console-budget.ts'
import { removeOldFiles, replaceFile } from './written-files.ts'

export interface ConsoleOptions {
  /** The directory of the program's bundle; the pages go to `console` in it. */
  readonly outputDirectory: string
  /** The best compression takes some seconds; `fast` is for a checkout. */
  readonly compression: 'best' | 'fast'
}

const root = join(import.meta.dirname, '../..')
const pageFile = join(root, 'console/app/page.html')

/**
 * Builds the web console: `console/index.html`, in which the hub replaces `__NONCE__`, and `console/assets/`, whose
 * names change with their contents. Each asset stands there compressed as well. `files.json` lists all of them.
 * Returns their paths below `outputDirectory`.
 */
export async function buildConsole(options: ConsoleOptions): Promise<readonly string[]> {
  const startMs = Date.now()
  const directory = join(options.outputDirectory, 'console')
  const { outputFiles, metafile } = await bundlePages(directory)
  const compress = await compressed(outputFiles, options.compression)
  const html = await pageOf(outputFiles, directory)
  checkConsoleBudget(partsOf(metafile, compress.gzipBytes, directory), Buffer.byteLength(html))
  await mkdir(join(directory, 'assets'), { recursive: true })
  const notices = Buffer.from(await noticesOf(metafile))
  const files = [
    ...outputFiles,
    ...compress.files,
    { path: join(directory, 'notices.txt'), contents: notices },
  ]
  for (const file of files) await replaceFile(file, startMs)
  // The page names the assets, so it comes after them.
  const index = { path: join(directory, 'index.html'), contents: Buffer.from(html) }
  await replaceFile(index, startMs)
  const names = [...files, index].map(({ path }) => relative(options.outputDirectory, path))
  const list = Buffer.from(JSON.stringify([...names, 'console/files.json'].toSorted()))
  await replaceFile({ path: join(directory, 'files.json'), contents: list }, startMs)
  const current = new Set(files.map(({ path }) => basename(path)))
  await removeOldFiles(join(directory, 'assets'), current, startMs)
  return [...names, 'console/files.json']
}

async function bundlePages(directory: string) {
  return build({
    absWorkingDir: root,
    entryPoints: {
      main: join(root, 'console/app/main.tsx'),
      style: join(root, 'console/app/console.css'),
    },
    outdir: directory,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    // The browsers of the year before, which have popovers and nested styles.
    target: ['chrome125', 'firefox128', 'safari18'],
    jsx: 'automatic',
    minify: true,
    // notices.txt has the licences.
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
}

interface Compressed {
  readonly files: readonly { path: string; contents: Uint8Array }[]
  readonly gzipBytes: ReadonlyMap<string, number>
}

async function compressed(
  files: readonly OutputFile[],
  compression: ConsoleOptions['compression'],
): Promise<Compressed> {
  const isBest = compression === 'best'
  const quality = isBest ? constants.BROTLI_MAX_QUALITY : 5
  const gzipBytes = new Map<string, number>()
  const all = files.map(async ({ path, contents }) => {
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(contents, {
        params: { [constants.BROTLI_PARAM_QUALITY]: quality },
      }),
      promisify(gzip)(contents, { level: 9 }),
    ])
    gzipBytes.set(path, gz.length)
    return [
      { path: `${path}.br`, contents: br },
      { path: `${path}.gz`, contents: gz },
    ]
  })
  return { files: (await Promise.all(all)).flat(), gzipBytes }
}

async function pageOf(files: readonly OutputFile[], directory: string): Promise<string> {
  const address = (name: RegExp): string => {
    const file = files.find(({ path }) => name.test(basename(path)))
    if (file === undefined)
      throw new Error(`Cannot build console: no file is called ${name.source}`)
    return `/console/${relative(directory, file.path)}`
  }
  const page = await readFile(pageFile, 'utf8')
  return page
    .replace('__STYLE__', address(/^style-\w+\.css$/))
    .replace('__SCRIPT__', address(/^main-\w+\.js$/))
}

/** The files of the bundle with what each loads at once and late, by esbuild's own account. */
function partsOf(
  metafile: Metafile,
  gzipBytes: ReadonlyMap<string, number>,
  directory: string,
): BuiltPart[] {
  return Object.entries(metafile.outputs).map(([output, { imports }]) => {
    const path = join(root, output)
    const named = (kind: string): string[] =>
      imports
        .filter((each) => each.kind === kind)
        .map((each) => relative(directory, join(root, each.path)))
    return {
      name: relative(directory, path),
      gzipBytes: gzipBytes.get(path) ?? 0,
      needs: named('import-statement'),
      loadsLate: named('dynamic-import'),
    }
  })
}

/** Collects the licences of all packages of which the bundle has a part. */
async function noticesOf(metafile: Metafile): Promise<string> {
  const names = Object.keys(metafile.inputs).flatMap(
    (input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? [],
  )
  const texts = [...new Set(names)].toSorted().map(async (name) => {
    const directory = join(root, 'node_modules', name)
    // An npm package's own manifest.
    const { version, license } = createRequire(import.meta.url)(
      join(directory, 'package.json'),
    ) as { version?: string; license?: string }
    const licence = await firstText(directory)
    return `${name} ${version ?? ''} (${license ?? 'unknown'})\n\n${licence}\n`
  })
  return (await Promise.all(texts)).join(`\n${'-'.repeat(72)}\n\n`)
}

async function firstText(directory: string): Promise<string> {
  for (const name of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'UNLICENSE']) {
    const text = await readFile(join(directory, name), 'utf8').catch(() => undefined)
    if (text !== undefined) return text
  }
  return ''
}
