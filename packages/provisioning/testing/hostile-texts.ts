/** The file that a shell would make if it read one of the texts. */
export const canary = '/var/tmp/skerry-canary'

/** Texts with which a shell, systemd, a path or a program would do something else than was meant. */
export const hostileTexts: readonly string[] = Object.freeze([
  `$(touch ${canary})`,
  `\`touch ${canary}\``,
  `a; touch ${canary}`,
  `a && touch ${canary} #`,
  `a | touch ${canary}`,
  `'; touch ${canary}; '`,
  `"; touch ${canary}; "`,
  `a\ntouch ${canary}\n`,
  'a\n',
  'a\r\nb',
  '${IFS}',
  '-oProxyCommand=id',
  '--help',
  '../../../../var/tmp/skerry-canary',
  '/var/tmp/../tmp/skerry-canary',
  'a\0b',
  'a b',
  '%n',
  '*',
  '~root',
  'ü\u202e',
  `a${'a'.repeat(100_000)}`,
])
