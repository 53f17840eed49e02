/**
 * Asks an etcd what packages/etcd-server must answer. `record PROGRAM` writes the answers that differential.test.ts
 * replays, `record-http PROGRAM` those of http-differential.test.ts, and `compare PROGRAM FIRST LAST` runs random
 * requests by seed against both and prints what differs.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { seededRandom } from '@skerry/base'
import { until } from '@skerry/testing'
import { EtcdClient } from '../../packages/etcd-server/testing/etcd-client.ts'
import { authScript } from '../../packages/etcd-server/testing/differential/auth-script.ts'
import { gatewayScript } from '../../packages/etcd-server/testing/differential/gateway-script.ts'
import { handScript } from '../../packages/etcd-server/testing/differential/hand-script.ts'
import { runHttpScript } from '../../packages/etcd-server/testing/differential/http-script.ts'
import { RandomScript } from '../../packages/etcd-server/testing/differential/random-script.ts'
import { runScript, type Script } from '../../packages/etcd-server/testing/differential/script.ts'
import { openTestServer } from '../../packages/etcd-server/testing/open-test-server.ts'

const recordedSeeds = 8
const stepsOfSeed = 250

const [verb, program = '', first = '1', last = '10'] = process.argv.slice(2)
if (verb === 'record') await record()
else if (verb === 'record-http') await recordHttp()
else if (verb === 'compare') {
  for (let seed = Number(first); seed <= Number(last); seed += 1) await compare(seed)
} else
  console.error(
    'usage: etcd-answers.ts record|record-http PROGRAM | compare PROGRAM [FIRST] [LAST]',
  )

function versionOfEtcd(): string {
  const version = execFileSync(program, ['--version']).toString()
  return /etcd Version: (\S+)/.exec(version)?.[1] ?? ''
}

async function recordHttp(): Promise<void> {
  const gateway = await onEtcd((client) => runHttpScript(client, gatewayScript))
  const auth = await onEtcd((client) => runHttpScript(client, authScript))
  await writeAnswers('http-answers', { etcd: versionOfEtcd(), gateway, auth })
}

async function record(): Promise<void> {
  const etcd = versionOfEtcd()
  const hand = await answersOfEtcd(handScript)
  const random = []
  for (let seed = 1; seed <= recordedSeeds; seed += 1) {
    const script = new RandomScript(seededRandom(seed)).make(stepsOfSeed)
    random.push({ seed, count: stepsOfSeed, lines: await answersOfEtcd(script) })
  }
  await writeAnswers('answers', { etcd, hand, random })
}

async function writeAnswers(name: string, answers: object): Promise<void> {
  const directory = join(import.meta.dirname, '../../packages/etcd-server/testdata')
  const file = join(directory, `${name}.json.gz`)
  await writeFile(file, gzipSync(JSON.stringify(answers), { level: 9 }))
}

async function compare(seed: number): Promise<void> {
  const script = new RandomScript(seededRandom(seed)).make(stepsOfSeed)
  const theirs = await answersOfEtcd(script)
  await using own = await openTestServer()
  const ours = await runScript(own.client, script)
  const different = ours.flatMap((line, at) => (line === theirs[at] ? [] : [at]))
  console.log(`seed ${seed}: ${different.length} of ${ours.length} answers differ`)
  for (const at of different.slice(0, 3)) console.log(` ${at}\n  ${theirs[at]}\n  ${ours[at]}`)
}

async function answersOfEtcd(script: Script): Promise<string[]> {
  return await onEtcd(async (client) => {
    using asking = new EtcdClient(client)
    return await runScript(asking, script)
  })
}

/** Starts an etcd of its own for the work. */
async function onEtcd(work: (client: string) => Promise<string[]>): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-answers-'))
  const client = `http://127.0.0.1:${await freePort()}`
  const flags = [
    `--data-dir=${directory}`,
    '--log-level=error',
    '--logger=zap',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    '--listen-peer-urls=http://127.0.0.1:0',
  ]
  const child = spawn(program, flags, { stdio: 'ignore' })
  try {
    await until(async () => {
      using probe = new EtcdClient(client)
      return await probe.call('Range', { key: Buffer.from('a') }).catch(() => undefined)
    })
    return await work(client)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
    await rm(directory, { recursive: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
