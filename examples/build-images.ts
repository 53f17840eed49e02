/**
 * Builds the images of the examples from Debian packages, with no registry and no container
 * engine: `node examples/build-images.ts [directory]` writes one archive per image there
 * (default: examples/images), ready for `skerry image import`.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ImageLayer, LayerFile } from '@skerry/kubelet'
import { layerOfDirectory, layerOfFiles, writeOciArchive } from '@skerry/testing'

const execute = promisify(execFile)

/** redis-server with the libraries it links, and a static shell. */
const packages = [
  'redis-server',
  'redis-tools',
  'libatomic1',
  'libc6',
  'libjemalloc2',
  'liblzf1',
  'libssl3',
  'libsystemd0',
  'libcap2',
  'libgcrypt20',
  'liblzma5',
  'libzstd1',
  'liblz4-1',
  'libgpg-error0',
  'libstdc++6',
  'libgcc-s1',
  'busybox-static',
]

/** Applets the example's scripts and its probes call by name. */
const applets = [
  'sh',
  'cat',
  'date',
  'echo',
  'env',
  'hostname',
  'httpd',
  'id',
  'ls',
  'ps',
  'sed',
  'sleep',
  'tar',
  'true',
  'wget',
]

/** The directory's images, written; returns the paths. */
export async function buildImages(directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true })
  const base = await buildBase()
  const redis = join(directory, 'redis.tar')
  await writeOciArchive(redis, {
    reference: 'docker.io/skerry-examples/redis:7.0',
    layers: [base],
    config: {
      Cmd: ['redis-server', '--dir', '/data', '--appendonly', 'yes', '--protected-mode', 'no'],
      Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'],
      User: '999:999',
      WorkingDir: '/data',
      ExposedPorts: { '6379/tcp': {} },
    },
  })
  const paths = [redis]
  for (const version of ['v1', 'v2']) paths.push(await buildGuestbook(directory, version, base))
  return paths
}

async function buildGuestbook(
  directory: string,
  version: string,
  base: ImageLayer,
): Promise<string> {
  const path = join(directory, `guestbook-${version}.tar`)
  const page = await readFile(join(import.meta.dirname, 'guestbook', 'page.cgi'), 'utf8')
  const app = await layerOfFiles([
    { path: 'www' },
    { path: 'www/cgi-bin' },
    { path: 'www/cgi-bin/page', content: page.replaceAll('@VERSION@', version), mode: 0o755 },
    { path: 'www/healthz', content: 'ok\n' },
    {
      path: 'www/index.html',
      content: '<meta http-equiv="refresh" content="0; url=/cgi-bin/page">\n',
    },
  ])
  await writeOciArchive(path, {
    reference: `docker.io/skerry-examples/guestbook:${version}`,
    layers: [base, app],
    config: {
      Cmd: ['httpd', '-f', '-v', '-p', '8080', '-h', '/www'],
      Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'],
      User: '1000:1000',
      ExposedPorts: { '8080/tcp': {} },
    },
  })
  return path
}

function buildBase(): Promise<ImageLayer> {
  return layerOfPackages(packages, addSkeleton)
}

/**
 * Makes a layer of the files that the Debian packages install, without their documents, and of those that
 * `complete` adds to the directory.
 */
export async function layerOfPackages(
  names: readonly string[],
  complete: (tree: string) => Promise<void>,
): Promise<ImageLayer> {
  const scratch = await mkdtemp(join(tmpdir(), 'skerry-images-'))
  try {
    await execute('apt-get', ['-qq', 'download', ...names], { cwd: scratch })
    const tree = join(scratch, 'tree')
    await mkdir(tree)
    for (const file of await readdir(scratch)) {
      if (file.endsWith('.deb')) await execute('dpkg-deb', ['-x', join(scratch, file), tree])
    }
    for (const part of ['doc', 'man', 'locale', 'lintian', 'bash-completion', 'gcc', 'gdb']) {
      await rm(join(tree, 'usr/share', part), { recursive: true, force: true })
    }
    await rm(join(tree, 'usr/lib/x86_64-linux-gnu/gconv'), { recursive: true, force: true })
    await complete(tree)
    return await layerOfDirectory(tree)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Users, /data for redis, and the shell's applets, added to the packages' files. */
async function addSkeleton(tree: string): Promise<void> {
  const skeleton: LayerFile[] = [
    {
      path: 'etc/passwd',
      content:
        'root:x:0:0::/:/bin/sh\nredis:x:999:999::/data:/bin/sh\nweb:x:1000:1000::/:/bin/sh\n',
    },
    { path: 'etc/group', content: 'root:x:0:\nredis:x:999:\nweb:x:1000:\n' },
    { path: 'data', mode: 0o1777 },
    { path: 'tmp', mode: 0o1777 },
  ]
  await writeFiles(tree, skeleton)
  for (const applet of applets) {
    await execute('ln', ['-sf', '/bin/busybox', join(tree, 'bin', applet)])
  }
}

async function writeFiles(tree: string, files: readonly LayerFile[]): Promise<void> {
  for (const file of files) {
    const path = join(tree, file.path)
    if (file.content === undefined) await mkdir(path, { recursive: true })
    else await writeFile(path, file.content)
    if (file.mode !== undefined) await chmod(path, file.mode)
  }
}

if (process.argv[1] === import.meta.filename) {
  const directory = process.argv[2] ?? join(import.meta.dirname, 'images')
  for (const path of await buildImages(directory)) process.stdout.write(`${path}\n`)
}
