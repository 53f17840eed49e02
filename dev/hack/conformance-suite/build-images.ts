import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  glob,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ImageLayer, ImageOptions, LayerFile } from '@skerry/kubelet'
import { layerOfDirectory, layerOfFiles, writeOciArchiveOfMany } from '@skerry/testing'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildSuite, imageSource, suiteCache, type SuiteProgram } from './build-suite.ts'
import { imageRecipes, shellPackages, type ImageRecipe } from './images-table.ts'

const execute = promisify(execFile)

/** Resolves with a directory of one archive that has all images, made once per recipe. */
export async function suiteImages(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of [import.meta.filename, join(import.meta.dirname, 'images-table.ts')])
    hash.update(await readFile(source))
  const directory = join(suiteCache, `images-${hash.digest('hex').slice(0, 12)}`)
  if (existsSync(directory)) return directory
  console.error('Building the images of the suite')
  const part = `${directory}.part`
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { recursive: true })
  await writeOciArchiveOfMany(join(part, 'suite.tar'), await allImages())
  await rename(part, directory)
  return directory
}

async function allImages(): Promise<ImageOptions[]> {
  const bases = {
    shell: [await shellLayer()],
    busybox: [await busyboxLayer()],
    none: [],
  }
  const images: ImageOptions[] = []
  for (const recipe of imageRecipes) {
    const own = await ownLayer(recipe)
    const layers = [...bases[recipe.base], ...(own === undefined ? [] : [own])]
    for (const reference of recipe.references)
      images.push({ reference, layers, config: recipe.config })
  }
  return images
}

async function ownLayer({
  programs = {},
  files = {},
}: ImageRecipe): Promise<ImageLayer | undefined> {
  const contents: LayerFile[] = []
  for (const [path, { program, mode }] of Object.entries(programs)) {
    const content = await readFile(await built(program))
    contents.push({ path: path.slice(1), content, mode: mode ?? 0o755 })
  }
  for (const [path, source] of Object.entries(files))
    contents.push({ path: path.slice(1), content: await readFile(imageSource(source)) })
  return contents.length === 0 ? undefined : layerOfFiles(contents)
}

async function built(program: SuiteProgram | 'etcd'): Promise<string> {
  const directory =
    program === 'etcd' ? await buildUpstream([program]) : await buildSuite([program])
  return join(directory, program)
}

/** Returns what upstream's images take from Alpine or Debian, from this machine's Debian packages. */
async function shellLayer(): Promise<ImageLayer> {
  return layerFrom(async (scratch, tree) => {
    const packages = await withDependencies(shellPackages)
    await execute('apt-get', ['-qq', 'download', ...packages], { cwd: scratch })
    for (const file of await readdir(scratch)) {
      if (file.endsWith('.deb')) await execute('dpkg-deb', ['-x', join(scratch, file), tree])
    }
    for (const part of ['doc', 'man', 'locale', 'lintian', 'bash-completion', 'gcc', 'gdb'])
      await rm(join(tree, 'usr/share', part), { recursive: true, force: true })
    for await (const path of glob('usr/lib/*-linux-gnu/gconv', { cwd: tree }))
      await rm(join(tree, path), { recursive: true })
    await symlink('bash', join(tree, 'bin/sh'))
    // Links that Debian's alternatives would make.
    await symlink('nc.openbsd', join(tree, 'bin/nc'))
    await addApplets(tree)
    await serveWithNginx(tree)
  })
}

/**
 * Its shell is bash: Debian's busybox drops environment variables whose names no shell could set,
 * which tests of such names look for.
 */
async function busyboxLayer(): Promise<ImageLayer> {
  return layerFrom(async (scratch, tree) => {
    await execute('apt-get', ['-qq', 'download', 'busybox-static', 'bash-static'], { cwd: scratch })
    for (const file of await readdir(scratch)) {
      if (file.endsWith('.deb')) await execute('dpkg-deb', ['-x', join(scratch, file), tree])
    }
    await rm(join(tree, 'usr/share'), { recursive: true, force: true })
    await symlink('bash-static', join(tree, 'bin/sh'))
    await addApplets(tree)
  })
}

async function layerFrom(
  fill: (scratch: string, tree: string) => Promise<void>,
): Promise<ImageLayer> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-suite-images-'))
  try {
    const tree = join(scratch, 'tree')
    await mkdir(tree)
    await fill(scratch, tree)
    await addUsers(tree)
    return await layerOfDirectory(tree)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function withDependencies(packages: readonly string[]): Promise<string[]> {
  const without = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances']
  const flags = ['depends', '--recurse', ...without.map((kind) => `--no-${kind}`)]
  const { stdout } = await execute('apt-cache', [...flags, ...packages])
  const names = stdout.split('\n').filter((line) => /^[a-z0-9]/.test(line))
  return [...new Set(names.map((name) => name.trim()))]
}

/** Adds every command of busybox that the packages lack. */
async function addApplets(tree: string): Promise<void> {
  const { stdout } = await execute(join(tree, 'bin/busybox'), ['--list'])
  const places = ['bin', 'sbin', 'usr/bin', 'usr/sbin']
  for (const applet of stdout.split('\n').filter(Boolean)) {
    if (places.some((place) => existsSync(join(tree, place, applet)))) continue
    await execute('ln', ['-s', '/bin/busybox', join(tree, 'bin', applet)])
  }
}

/** The users that tests of security contexts look for, and the directories that programs expect. */
async function addUsers(tree: string): Promise<void> {
  const users = ['root:x:0:0:root:/root:/bin/sh', 'daemon:x:1:1::/:/bin/false']
  users.push('www-data:x:33:33::/:/bin/false', 'nobody:x:65534:65534::/:/bin/false')
  users.push('user-defined-in-image:x:1000:1000::/home:/bin/sh')
  const groups = ['root:x:0:', 'daemon:x:1:', 'tty:x:5:', 'www-data:x:33:', 'nogroup:x:65534:']
  groups.push(
    'user-defined-in-image:x:1000:',
    'group-defined-in-image:x:50000:user-defined-in-image',
  )
  await mkdir(join(tree, 'etc'), { recursive: true })
  await writeFile(join(tree, 'etc/passwd'), `${users.join('\n')}\n`)
  await writeFile(join(tree, 'etc/group'), `${groups.join('\n')}\n`)
  for (const directory of ['root', 'home', 'uploads', 'var/run', 'run', 'proc', 'sys', 'dev'])
    await mkdir(join(tree, directory), { recursive: true }).catch(onlyIfLinked)
  await mkdir(join(tree, 'tmp'), { recursive: true })
  await chmod(join(tree, 'tmp'), 0o1777)
}

/** Rethrows other errors: /var/run is a link to /run in Debian's base files. */
function onlyIfLinked(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

/** Serves like upstream's nginx: its page at / on port 80, its log on standard output. */
async function serveWithNginx(tree: string): Promise<void> {
  const configuration = [
    'worker_processes 1;',
    'error_log /dev/stderr notice;',
    'pid /tmp/nginx.pid;',
    'events { worker_connections 256; }',
    'http {',
    '  access_log /dev/stdout;',
    '  default_type text/html;',
    '  server { listen 80; root /usr/share/nginx/html; index index.html; }',
    '}',
  ]
  await writeFile(join(tree, 'etc/nginx/nginx.conf'), `${configuration.join('\n')}\n`)
  for (const directory of ['var/log/nginx', 'var/lib/nginx', 'usr/share/nginx/html'])
    await mkdir(join(tree, directory), { recursive: true })
  const page = '<html><head><title>Welcome to nginx!</title></head><body>nginx</body></html>\n'
  await writeFile(join(tree, 'usr/share/nginx/html/index.html'), page)
}
