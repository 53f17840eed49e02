/**
 * Serves a registry in a separate process, for a host's loopback: `node dev/e2e/registry-process.ts
 * basic|bearer|none <username> <password> <address>` prints its port and serves until it is killed. The password may be in
 * REGISTRY_PASSWORD instead, so that it is in no argument.
 */
import { readFile } from 'node:fs/promises'
import { layerOfFiles, startTestRegistry } from '@skerry/testing'

const [challenge, username = '', given = '', address = '127.0.0.1'] = process.argv.slice(2)
const password = process.env['REGISTRY_PASSWORD'] ?? given
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
