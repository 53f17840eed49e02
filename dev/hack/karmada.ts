/**
 * Stories with the real Kubernetes and the real Karmada, printed as they happen. Development only; root.
 *   node dev/hack/karmada.ts agent-upstream   kubectl → hub → agent → kube-apiserver 1.36
 *   node dev/hack/karmada.ts proxy            karmadactl → Karmada → hub → agent → a site with a node
 *   node dev/hack/karmada.ts works            Karmada's policies → Works → our agent → a site, and back
 *   node dev/hack/karmada.ts register         our agent registers with Karmada by token, applies its Works, renews, leaves
 *   node dev/hack/karmada.ts virtual          groups of one edge's nodes as clusters at Karmada, then at our hub: all looks alike
 *   node dev/hack/karmada.ts fleet            one story against Karmada, then our hub with our agents and with Karmada's: all look alike
 *   node dev/hack/karmada.ts karmadactl       karmadactl → our hub → a site with a node; then Karmada's agent there
 *   node dev/hack/karmada.ts karmada-agent    the last of it alone: Karmada's agent registers with our hub, and pulls
 * Each host is a separate network; the edge's accepts no connection from outside. An unexpected result ends
 * the story with an error.
 */
import { playAgentUpstream } from './karmada/agent-upstream.ts'
import { playKarmadaProxy } from './karmada/karmada-proxy.ts'
import { playKarmadaAgent, playKarmadactl } from './karmada/karmadactl.ts'
import { playFleet } from './karmada/play-fleet.ts'
import { playVirtual } from './karmada/play-virtual.ts'
import { playPullWorks } from './karmada/pull-works.ts'
import { playRegister } from './karmada/register-agent.ts'

const stories: Readonly<Record<string, () => Promise<void>>> = {
  'agent-upstream': playAgentUpstream,
  proxy: playKarmadaProxy,
  works: playPullWorks,
  register: playRegister,
  virtual: playVirtual,
  karmadactl: playKarmadactl,
  'karmada-agent': playKarmadaAgent,
  fleet: playFleet,
}
const [name = ''] = process.argv.slice(2)
const play = stories[name]
if (play) await play()
else {
  console.error(
    `Say one of ${Object.keys(stories).join(', ')}; the first lines of this file tell how`,
  )
  process.exitCode = 2
}
