import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { systemClock } from '@skerry/base'
import { loadKubeconfig } from '@skerry/client'

const atOnce = 64

/** Opens TLS connections that ask for nothing, prints how many are open, and holds them until killed. */
async function holdConnections(kubeconfig = '', count = 0): Promise<void> {
  const options = { clock: systemClock, environment: {} }
  const { transport } = await loadKubeconfig(kubeconfig, {}, options)
  const { hostname: host, port } = new URL(transport.server)
  const ca = transport.certificateAuthority
  const sockets: TLSSocket[] = []
  const dial = async (): Promise<void> => {
    const socket = connect({ host, port: Number(port), ...(ca ? { ca } : {}) })
    sockets.push(socket)
    await once(socket, 'secureConnect')
    socket.resume()
  }
  while (sockets.length < count) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - sockets.length) }, dial))
  }
  console.log(sockets.filter(({ destroyed }) => !destroyed).length)
}

await holdConnections(process.argv[2], Number(process.argv[3]))
