import type { KindTexts } from '@skerry/api'

/** Returns the texts of jump hosts and imports, for kubectl explain; the name is that of the EdgeCluster's schema. */
export function wayTexts(schemaName: string): KindTexts {
  return {
    [`${schemaName}JumpHost`]: {
      description:
        'A host with SSH through which the hub logs in to machines that it does not reach.',
      fields: {
        address: 'An IPv4 address or a DNS name.',
        port: 'The port of SSH. The default is 22.',
        user: 'The user of SSH. The default is root. It needs no shell and no sudo there.',
        credentials: 'The Secret with its login; the keys are those of machines.',
        hostKeys: 'The fingerprints, SHA256:…, of which the jump host must show one.',
        acceptNewHostKeys:
          'Whether the first fingerprint that it shows is accepted and kept. The default is false.',
      },
    },
    [`${schemaName}JumpStatus`]: {
      fields: {
        address: 'The address in the spec.',
        port: 'The port of SSH.',
        hostKey: 'The fingerprint that it showed and that was accepted.',
        unknownHostKey: 'The fingerprint that it showed and that is not accepted yet.',
      },
    },
    [`${schemaName}Import`]: {
      description: 'A cluster that exists and joins the hub by a manifest.',
      fields: {
        applyWorks: 'Whether its agent applies the objects that the hub has for the cluster.',
        allowServices: 'Services of the cluster that users of the hub may reach.',
        allowDials:
          'Machines that the hub may dial through the agent, as address:port or network/bits:port.',
        image: "The image of the agent. If omitted, the hub's default.",
      },
    },
  }
}
