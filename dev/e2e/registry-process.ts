/**
 * Serves a registry in a separate process, for a host's loopback: `node dev/e2e/registry-process.ts
 * basic|bearer|none <username> <password> <address>` prints its port and serves until it is killed.
 */
import { readFile } from 'node:fs/promises'
import { layerOfFiles, startTestRegistry } from '@skerry/testing'

const [challenge, username = '', password = '', address = '127.0.0.1'] = process.argv.slice(2)
if (challenge !== 'basic' && challenge !== 'bearer' && challenge !== 'none') {
  throw new Error(`Cannot start the registry: ${challenge} is not basic, bearer or none`)
}
const layer = await layerOfFiles([
  { path: 'bin' },
  { path: 'bin/busybox', content: await readFile('/bin/busybox'), mode: 0o755 },
  { path: 'bin/sh', linkTo: 'busybox' },
])
const registry = await startTestRegistry({
  challenge,
  username,
  password,
  address,
  image: {
    layers: [layer],
    config: { Cmd: ['/bin/sh', '-c', 'echo pulled; exec busybox sleep 1000'], Env: ['PATH=/bin'] },
  },
})
console.log(registry.port)
