import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { addressPlugin, writeCniPlugins } from './cni-plugins.ts'

/** Stands in for host-local: assigns .2, or the requested address, unless that is .9. */
const hostLocal = `#!/bin/sh
cat > /dev/null
case "$CNI_ARGS" in
  *IP=10.42.0.9*) echo '{"code": 11, "msg": "taken"}'; exit 1 ;;
  *IP=*) ip=\${CNI_ARGS##*IP=} ;;
  *) ip=10.42.0.2 ;;
esac
printf '{\\n  "ips": [\\n    {\\n      "address": "%s/24"\\n    }\\n  ]\\n}\\n' "$ip"
`

interface Bench {
  podsDirectory: string
  call: (command: string, args?: string) => Promise<string>
}

async function bench(context: TestContext): Promise<Bench> {
  const root = await mkdtemp(join(tmpdir(), 'skerry-cni-'))
  context.after(() => rm(root, { recursive: true }))
  await writeFile(join(root, 'host-local'), hostLocal)
  await chmod(join(root, 'host-local'), 0o755)
  const podsDirectory = join(root, 'pods')
  const directory = join(root, 'plugins')
  await writeCniPlugins({ directory, systemDirectory: root, podsDirectory })
  await writeCniPlugins({ directory, systemDirectory: root, podsDirectory })
  const call: Bench['call'] = (command, args = 'IgnoreUnknown=1;K8S_POD_UID=one') =>
    new Promise((resolve, reject) => {
      const env = { PATH: '/usr/bin:/bin', CNI_COMMAND: command, CNI_ARGS: args }
      const child = execFile(join(directory, addressPlugin), { env }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      )
      child.stdin?.end('{"cniVersion":"1.0.0"}')
    })
  return { podsDirectory, call }
}

test('a pod that comes back gets the address it had', async (context) => {
  const { podsDirectory, call } = await bench(context)
  assert.match(await call('ADD'), /"address": "10\.42\.0\.2\/24"/)
  const kept = join(podsDirectory, 'one', 'address')
  assert.equal(await readFile(kept, 'utf8'), '10.42.0.2\n')
  await writeFile(kept, '10.42.0.7\n')
  assert.match(await call('ADD'), /"address": "10\.42\.0\.7\/24"/)
})

test('a pod whose address another has taken gets a new one, and keeps that', async (context) => {
  const { podsDirectory, call } = await bench(context)
  await call('ADD')
  const kept = join(podsDirectory, 'one', 'address')
  await writeFile(kept, '10.42.0.9\n')
  assert.match(await call('ADD'), /"address": "10\.42\.0\.2\/24"/)
  assert.equal(await readFile(kept, 'utf8'), '10.42.0.2\n')
})

test('a call that is not for a pod, or is not an ADD, is left to host-local', async (context) => {
  const { podsDirectory, call } = await bench(context)
  assert.match(await call('ADD', 'IgnoreUnknown=1'), /10\.42\.0\.2/)
  await call('DEL')
  await assert.rejects(readFile(join(podsDirectory, 'one', 'address')), { code: 'ENOENT' })
})
