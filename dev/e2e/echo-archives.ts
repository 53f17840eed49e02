import { chmod, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { layerOfFiles, writeOciArchive } from '@skerry/testing'
import { layerOfPackages } from '../../examples/build-images.ts'
import { builtOnce } from './example-archives.ts'

/** The images of published examples. Each answers at port 8080 with the name of its pod, and at /version with its own. */
const images = ['superedge/echoserver:2.2', 'superedge/echoserver:2.3'] as const

/** A directory with an archive of each image. */
export function echoArchives(): Promise<string> {
  const sources = ['dev/e2e/echo-archives.ts', 'examples/build-images.ts']
  return builtOnce('skerry-e2e-echo', sources, buildImages)
}

async function buildImages(directory: string): Promise<void> {
  const base = await layerOfPackages(['busybox-static', 'libc6'], keepShell)
  for (const image of images) {
    const pages = await layerOfFiles([{ path: 'www' }, { path: 'www/version', content: image }])
    const serve = [
      'cp -r /www /tmp && hostname > /tmp/www/index.html',
      // The first process of a container gets only the signals that it handles.
      "trap 'exit 0' TERM; httpd -f -p 8080 -h /tmp/www & wait",
    ].join('; ')
    await writeOciArchive(join(directory, `${image.replaceAll(/[/:]/g, '-')}.tar`), {
      reference: `docker.io/${image}`,
      layers: [base, pages],
      config: { Cmd: ['sh', '-c', serve], Env: ['PATH=/bin'], ExposedPorts: { '8080/tcp': {} } },
    })
  }
}

async function keepShell(tree: string): Promise<void> {
  for (const part of ['usr/share', 'etc', 'var']) {
    await rm(join(tree, part), { recursive: true, force: true })
  }
  await mkdir(join(tree, 'tmp'))
  await chmod(join(tree, 'tmp'), 0o1777)
  for (const name of ['sh', 'cp', 'hostname', 'httpd', 'sleep', 'wget', 'cat', 'ls']) {
    await symlink('busybox', join(tree, 'bin', name))
  }
}
