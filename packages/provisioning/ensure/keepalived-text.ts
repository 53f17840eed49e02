import { isIPv4 } from 'node:net'
import { apiPortDefault } from '../kind/made-masters.ts'
import { places } from './commands.ts'

/** The check of the site, which keepalived runs as root. */
export const checkPath = `${places.settings}/virtual-ip/check-site`

interface Holder {
  readonly virtual: string
  readonly address: string
  readonly link: string
  readonly router: number
  readonly priority: number
  readonly peers: readonly string[]
}

/**
 * Returns the configuration of keepalived (keepalived.conf(5)). Packets go to the peers alone, so that no switch has to
 * pass groups; the address stays where it is until that master fails.
 */
export function keepalivedText(holder: Holder): string {
  const { virtual, address, link, router, priority, peers } = holder
  const odd = [virtual, address, ...peers].find((each) => !isIPv4(each))
  if (odd !== undefined || !/^[\w.][\w.-]{0,14}$/.test(link)) {
    throw new RangeError(`Cannot write a virtual IP: ${odd ?? link} is not an address or interface`)
  }
  return `# Written by skerry: the address ${virtual} is on one master that is ready.
global_defs {
  enable_script_security
  script_user root
  vrrp_garp_master_refresh 30
}
vrrp_script site_is_ready {
  script "${checkPath}"
  interval 2
  timeout 3
  fall 2
  rise 2
}
vrrp_instance skerry {
  state BACKUP
  nopreempt
  interface ${link}
  virtual_router_id ${router}
  priority ${priority}
  advert_int 1
  unicast_src_ip ${address}
  unicast_peer {
${peers.map((each) => `    ${each}\n`).join('')}  }
  virtual_ipaddress {
    ${virtual}/32 dev ${link}
  }
  track_script {
    site_is_ready
  }
}
`
}

/** Asks this machine's own site, over TLS. It is constant. */
export const checkScript = `#!/bin/sh
exec curl --silent --fail --output /dev/null --max-time 2 --noproxy '*' \\
  --cacert ${places.data}/site/pki/ca.crt https://127.0.0.1:${apiPortDefault}/readyz
`
