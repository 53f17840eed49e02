/**
 * Runs Patroni's client of etcd's JSON gateway against packages/etcd-server, without users and with them. Development
 * only; needs Python and PyPI.
 *   node dev/hack/etcd-clients.ts
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openEtcdServer } from '@skerry/etcd-server'
import { freePort } from '../processes/free-port.ts'
import { clientsCache, mustRun, readChecks, runIn } from './clients/client-plan.ts'

const packages = ['patroni[etcd3]==4.1.5', 'psycopg[binary]==3.3.9']
const python = await prepare()
await check('without users', [])
await check('with users', ['patroni', 'secret'])

async function prepare(): Promise<string> {
  const directory = join(clientsCache, 'patroni')
  const bin = join(directory, 'venv', 'bin')
  if (existsSync(join(directory, 'ready'))) return join(bin, 'python')
  await mkdir(directory, { recursive: true })
  await mustRun(['python3', '-m', 'venv', 'venv'], { directory })
  await mustRun([join(bin, 'pip'), 'install', '-q', ...packages], { directory })
  await writeFile(join(directory, 'ready'), '')
  return join(bin, 'python')
}

async function check(name: string, login: readonly string[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-patroni-'))
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const options = { path: join(directory, 'etcd.db'), name: 'one', clientUrls: [endpoint] }
  const deps = { clock: systemClock, log: silentLogger, random: systemRandom }
  try {
    await using server = await openEtcdServer(options, deps)
    await server.listen({ host: '127.0.0.1', port })
    if (login.length > 0) await addUsers(endpoint, login)
    const script = join(import.meta.dirname, 'etcd-clients/patroni-client.py')
    const result = await runIn([python, script, `127.0.0.1:${port}`, ...login])
    const { passed, failed } = readChecks(result)
    console.log(`${failed.length === 0 ? 'pass' : 'FAIL'}  Patroni ${name}: ${passed} passed`)
    for (const line of failed) console.log(`      ${line}`)
    if (failed.length > 0) process.exitCode = 1
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function addUsers(endpoint: string, [name, password]: readonly string[]): Promise<void> {
  const ask = async (path: string, body: object): Promise<void> => {
    const asked = { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${endpoint}/v3/auth/${path}`, asked)
    if (!response.ok) throw new Error(`Cannot ${path}: ${await response.text()}`)
  }
  const b64 = (text: string): string => Buffer.from(text).toString('base64')
  const perm = { permType: 'READWRITE', key: b64('/service/'), range_end: b64('/service0') }
  await ask('user/add', { name: 'root', password: 'root' })
  await ask('user/grant', { user: 'root', role: 'root' })
  await ask('user/add', { name, password })
  await ask('role/add', { name: 'patroni' })
  await ask('role/grant', { name: 'patroni', perm })
  await ask('user/grant', { user: name, role: 'patroni' })
  await ask('enable', {})
}
