import type { ImageConfig } from '@skerry/kubelet'
import type { SuiteProgram } from './build-suite.ts'

/** An image that the suite's conformance tests use, and the replacement of upstream's build of it. */
export interface ImageRecipe {
  /** The suite's own names of the image, so that no test needs another registry. */
  references: readonly string[]
  /** The base: `shell` has Debian's tools, `busybox` a static busybox, `none` nothing but the members below. */
  base: 'shell' | 'busybox' | 'none'
  /** The programs that are built from Go modules, by their paths in the image. */
  programs?: Readonly<Record<string, { program: SuiteProgram | 'etcd'; mode?: number }>>
  /** The files of upstream's test/images, by their paths in the image. */
  files?: Readonly<Record<string, string>>
  config: ImageConfig
}

const path = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']
const agnhost = {
  '/agnhost': { program: 'agnhost' },
  '/agnhost-2': { program: 'agnhost' },
} as const
const agnhostConfig = { Entrypoint: ['/agnhost'], Cmd: ['pause'], Env: path }
const nginxConfig = { Cmd: ['nginx', '-g', 'daemon off;'], Env: path }
const e2e = 'registry.k8s.io/e2e-test-images'

export const imageRecipes: readonly ImageRecipe[] = [
  {
    references: [`${e2e}/agnhost:2.63.0`, `${e2e}/agnhost:2.55`],
    base: 'shell',
    programs: agnhost,
    files: {
      '/localhost.crt': 'agnhost/porter/localhost.crt',
      '/localhost.key': 'agnhost/porter/localhost.key',
    },
    config: agnhostConfig,
  },
  {
    references: [`${e2e}/nautilus:1.8`],
    base: 'shell',
    programs: agnhost,
    files: {
      '/nautilus.jpg': 'nautilus/html/nautilus.jpg',
      '/data.json': 'nautilus/html/data.json',
    },
    config: { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'], Env: path },
  },
  {
    references: [`${e2e}/busybox:1.37.0-1`],
    base: 'busybox',
    config: { Cmd: ['sh'], Env: path },
  },
  {
    references: [`${e2e}/nginx:1.15-4`, `${e2e}/nginx:1.27-0`],
    base: 'shell',
    config: nginxConfig,
  },
  {
    references: [`${e2e}/glibc-dns-testing:2.0.0`],
    base: 'shell',
    config: { Cmd: ['bash'], Env: path },
  },
  {
    references: [`${e2e}/nonewprivs:1.4`],
    base: 'busybox',
    programs: { '/usr/local/bin/nnp': { program: 'nonewprivs', mode: 0o6755 } },
    config: { Cmd: ['nnp'], Env: path },
  },
  {
    references: [`${e2e}/nonroot:1.5`],
    base: 'busybox',
    config: { Cmd: ['sh'], Env: path, User: '1234' },
  },
  {
    references: [`${e2e}/sample-apiserver:1.29.2`],
    base: 'none',
    programs: { '/sample-apiserver': { program: 'sample-apiserver' } },
    config: { Entrypoint: ['/sample-apiserver'], Env: path },
  },
  {
    references: ['registry.k8s.io/etcd:3.6.8-0'],
    // etcd is linked with the C library of the machine that built it.
    base: 'shell',
    programs: { '/usr/local/bin/etcd': { program: 'etcd' } },
    config: { Cmd: ['etcd'], Env: path },
  },
  {
    references: ['registry.k8s.io/pause:3.10.2'],
    base: 'none',
    programs: { '/agnhost': { program: 'agnhost' } },
    config: { Entrypoint: ['/agnhost', 'pause'], Env: path },
  },
]

/** The Debian packages of the base `shell`, without their dependencies. */
export const shellPackages: readonly string[] = [
  'base-files',
  'bash',
  'coreutils',
  'curl',
  'bind9-dnsutils',
  'netcat-openbsd',
  'iproute2',
  'iperf',
  'nginx',
  'busybox-static',
  'util-linux',
  'tar',
  'grep',
  'sed',
  'hostname',
  'libc-bin',
  'procps',
]
