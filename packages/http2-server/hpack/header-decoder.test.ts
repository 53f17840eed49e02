import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headerBlock } from './header-block.ts'
import { HeaderDecoder } from './header-decoder.ts'

function decoded(decoder: HeaderDecoder, hex: string): string[] {
  const block = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  const fields: string[] = []
  decoder.decode(block, 0, block.length, ({ name, value }) => fields.push(`${name}: ${value}`))
  return fields
}

const requests = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [
    ':method: GET',
    ':scheme: http',
    ':path: /',
    ':authority: www.example.com',
    'cache-control: no-cache',
  ],
  [
    ':method: GET',
    ':scheme: https',
    ':path: /index.html',
    ':authority: www.example.com',
    'custom-key: custom-value',
  ],
]
const cookie = 'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
const responses = [
  [
    ':status: 302',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:21 GMT',
    'location: https://www.example.com',
  ],
  [
    ':status: 307',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:21 GMT',
    'location: https://www.example.com',
  ],
  [
    ':status: 200',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:22 GMT',
    'location: https://www.example.com',
    'content-encoding: gzip',
    cookie,
  ],
]

/** The vectors of RFC 7541, appendix C, each a connection. Those of responses start with a table of 256 bytes. */
const vectors: readonly (readonly [name: string, blocks: readonly string[], fields: string[][]])[] =
  [
    [
      'C.2.1, a literal that the table keeps',
      ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'],
      [['custom-key: custom-header']],
    ],
    [
      'C.2.2, a literal that it does not keep',
      ['040c 2f73 616d 706c 652f 7061 7468'],
      [[':path: /sample/path']],
    ],
    [
      'C.2.3, a literal that nothing may keep',
      ['1008 7061 7373 776f 7264 0673 6563 7265 74'],
      [['password: secret']],
    ],
    ['C.2.4, an index', ['82'], [[':method: GET']]],
    [
      'C.3, requests without the code of Huffman',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
      requests,
    ],
    [
      'C.4, requests in it',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
      requests,
    ],
    [
      'C.6, responses that evict each other',
      [
        '3fe1 01 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
      responses,
    ],
  ]

for (const [name, blocks, fields] of vectors) {
  test(`RFC 7541, ${name}`, () => {
    const decoder = new HeaderDecoder()
    for (const [at, block] of blocks.entries()) {
      assert.deepEqual(decoded(decoder, block), fields[at])
    }
  })
}

const broken: readonly (readonly [what: string, hex: string])[] = [
  ['index 0', '80'],
  ['an index after the last field', 'be'],
  ['a size of the table after a field', '823f e101'],
  ['a size of the table above what was offered', '3fe2 1f'],
  ['a number without an end', '7f80 8080 8080 8080 01'],
  ['a number that is cut off', '7f'],
  ['a text that is cut off', '4003 6162'],
  ['a text without its length', '40'],
  ['the end of texts in the code of Huffman', '4001 7884 ffff fffc'],
  ['a filling of eight bits', '4001 7882 1fff ff'],
  ['a filling of zeros', '4001 7881 18'],
]

for (const [what, hex] of broken) {
  test(`${what} is an error of compression`, () => {
    assert.throws(() => decoded(new HeaderDecoder(), hex), { code: 'compressionError' })
  })
}

test('fields that are written come back as they were', () => {
  const fields = {
    ':status': '200',
    'content-type': 'application/grpc',
    'grpc-message': 'x'.repeat(300),
    'x-empty': '',
  }
  const hex = headerBlock(fields).toString('hex')
  const expected = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  assert.deepEqual(decoded(new HeaderDecoder(), hex), expected)
})

test('a value that ends a line is not written', () => {
  assert.throws(() => headerBlock({ location: 'a\r\nset-cookie: b' }), TypeError)
})
