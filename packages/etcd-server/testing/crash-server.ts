import { writeSync } from 'node:fs'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import { openEtcdServer } from '../etcd-server.ts'

/** Serves the store at the path given as the argument until it is killed; its first line is the port. */
const [path = ''] = process.argv.slice(2)
const deps = { clock: systemClock, log: silentLogger, random: systemRandom }
const server = await openEtcdServer({ path, name: 'crash', clientUrls: [] }, deps)
const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
writeSync(1, `${port}\n`)
