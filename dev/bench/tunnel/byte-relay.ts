/**
 * Relays bytes over one hop of TLS without knowing what they are: the least that a Node program with such a
 * hop costs. Arguments: the directory with the certificates, the port on this machine where the next hop
 * listens. Prints its own port.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'

const [directory = '', port = ''] = process.argv.slice(2)
const read = (name: string): Buffer => readFileSync(join(directory, name))
const ca = read('ca.crt')
const server = createServer({ cert: read('server.crt'), key: read('server.key') }, (near) => {
  const far = connect({ host: '127.0.0.1', port: Number(port), ca, servername: 'localhost' })
  for (const [from, to] of [[near, far] as const, [far, near] as const]) {
    from.setNoDelay(true)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') console.log(address.port)
})
