import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { layerOfFiles, writeOciArchive } from '@skerry/testing'
import { layerOfPackages } from '../../examples/build-images.ts'
import { builtOnce } from './example-archives.ts'

/** The server, a shell to look around, and the libraries that they link. */
const packages = [
  'nginx',
  'libc6',
  'libcrypt1',
  'libpcre2-8-0',
  'libssl3',
  'zlib1g',
  'busybox-static',
]

const configuration = `daemon off;
user web web;
pid /tmp/nginx.pid;
error_log /dev/stderr;
events {}
http {
  access_log off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  server { listen 8080; root /www; }
}
`

/** The repositories of headquarters and of one branch. */
export const repositories = ['skerry-examples/nginx', 'skerry-branches/nginx'] as const

/**
 * A directory with nginx of Debian as images: versions 1 and 2 in both repositories. Each serves at
 * port 8080 its own name at `/image`.
 */
export function nginxArchives(): Promise<string> {
  const sources = ['dev/e2e/nginx-archives.ts', 'examples/build-images.ts']
  return builtOnce('skerry-e2e-nginx', sources, buildImages)
}

async function buildImages(directory: string): Promise<void> {
  const base = await layerOfPackages(packages, keepServer)
  for (const repository of repositories) {
    for (const tag of ['1', '2']) {
      const image = `${repository}:${tag}`
      const site = await layerOfFiles([
        { path: 'www' },
        { path: 'www/image', content: image },
        { path: 'etc/nginx.conf', content: configuration },
      ])
      await writeOciArchive(join(directory, `${image.replaceAll(/[/:]/g, '-')}.tar`), {
        reference: `docker.io/${image}`,
        layers: [base, site],
        config: {
          Cmd: ['nginx', '-e', 'stderr', '-c', '/etc/nginx.conf'],
          Env: ['PATH=/usr/sbin:/usr/bin:/sbin:/bin'],
          User: '1000:1000',
          ExposedPorts: { '8080/tcp': {} },
        },
      })
    }
  }
}

/** Keeps the server without the package's own site and modules. */
async function keepServer(tree: string): Promise<void> {
  for (const part of ['etc', 'usr/share', 'usr/lib/nginx', 'var']) {
    await rm(join(tree, part), { recursive: true, force: true })
  }
  for (const part of ['etc', 'tmp']) await mkdir(join(tree, part))
  await chmod(join(tree, 'tmp'), 0o1777)
  await writeFile(join(tree, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nweb:x:1000:1000::/:/bin/sh\n')
  await writeFile(join(tree, 'etc/group'), 'root:x:0:\nweb:x:1000:\n')
  for (const applet of ['sh', 'cat', 'hostname', 'wget']) {
    await symlink('/bin/busybox', join(tree, 'bin', applet))
  }
}
