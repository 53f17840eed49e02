/**
 * A stand-in for the etcd that envtest starts: it reports health, and the directory where the API server
 * keeps its store.
 */
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { stopSignal } from '../../../../roles/runtime/role-context.ts'
import { readFlags } from './server-flags.ts'

const flags = readFlags()
const directory = flags.one('data-dir')
const address = new URL(flags.one('listen-client-urls'))
await mkdir(directory, { recursive: true })

const server = createServer((request, response) => {
  if (request.url === '/directory') response.end(directory)
  else if (request.url === '/health') response.end('{"health":"true"}')
  else response.writeHead(404).end()
})
server.listen(Number(address.port), address.hostname)
stopSignal().addEventListener('abort', () => process.exit(0))
