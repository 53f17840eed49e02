import type { Command } from 'commander'

export function withWayOptions(command: Command): Command {
  return command
    .option(
      '--proxy <url>',
      'HTTP proxy for the connection to the hub (default: HTTPS_PROXY and NO_PROXY)',
    )
    .option('--proxy-credentials-file <path>', 'file with user:password for the proxy')
    .option('--proxy-ca-file <path>', 'authority of an https:// proxy, PEM')
    .option('--inspected-tls', 'connect inside a WebSocket, because a box on the way opens TLS')
}
