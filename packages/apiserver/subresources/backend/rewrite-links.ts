import { Transform, type Readable } from 'node:stream'
import { createDeflate, createGunzip, createGzip, createInflate } from 'node:zlib'
import { connectLimits } from '../../limits-table.ts'

/** Attributes that contain addresses, by element (HTML 4 and 5). */
const linkAttributes: Readonly<Record<string, readonly string[]>> = Object.freeze({
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
})

export interface ProxiedPlace {
  /** The path by which the client knows the backend's root, without a slash at its end. */
  readonly prefix: string
  /** host:port of the backend, whose own absolute addresses are rewritten, too. */
  readonly host: string
}

/** Rewrites an address in a page or in Location: one of the backend's own becomes one below the prefix. */
export function rewriteAddress(address: string, { prefix, host }: ProxiedPlace): string {
  const own = [`http://${host}`, `https://${host}`, `//${host}`].find(
    (start) => address === start || address.startsWith(`${start}/`),
  )
  const path = own === undefined ? address : address.slice(own.length) || '/'
  if (!path.startsWith('/') || path.startsWith('//') || path.startsWith(`${prefix}/`))
    return address
  return prefix + path
}

/**
 * Rewrites the links of the backend's pages so that they lead through the proxy. Other answers stay
 * as they are.
 */
export function rewriteLinks(
  body: Readable,
  headers: Headers,
  place: ProxiedPlace,
): { body: Readable; headers: Headers } {
  const location = oneOf(headers, 'location')
  const moved =
    location === undefined ? headers : { ...headers, location: rewriteAddress(location, place) }
  const isPage = (oneOf(headers, 'content-type') ?? '').split(';')[0]?.trim() === 'text/html'
  const encoding = oneOf(headers, 'content-encoding') ?? ''
  const codec = codecs[encoding]
  if (!isPage || codec === undefined) return { body, headers: moved }
  const { 'content-length': _, ...rest } = moved
  const steps = [...codec.decode(), linkTransform(place), ...codec.encode()]
  let rewritten: Readable = body
  for (const step of steps) {
    const source = rewritten
    // A backend that breaks off must not look like one that finished.
    source.on('error', (error) => step.destroy(error))
    step.on('close', () => source.destroy())
    rewritten = source.pipe(step)
  }
  // It may fail before anybody reads it; the reader then gets the error.
  rewritten.on('error', () => undefined)
  return { body: rewritten, headers: rest }
}

type Headers = Readonly<Record<string, string | readonly string[]>>

function oneOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

interface Codec {
  decode(): Transform[]
  encode(): Transform[]
}

const codecs: Readonly<Record<string, Codec>> = Object.freeze({
  '': { decode: () => [], encode: () => [] },
  identity: { decode: () => [], encode: () => [] },
  gzip: { decode: () => [createGunzip()], encode: () => [createGzip()] },
  deflate: { decode: () => [createInflate()], encode: () => [createDeflate()] },
})

/** Rewrites whole tags. Text after the last `<` waits for its `>`, within a limit. */
function linkTransform(place: ProxiedPlace): Transform {
  let waiting = ''
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // latin1 preserves every byte, whatever the page's encoding is.
      const text = waiting + chunk.toString('latin1')
      const open = text.lastIndexOf('<')
      const isOpen = open > text.lastIndexOf('>')
      const isBounded = text.length - open <= connectLimits.tagBytesMax
      const end = isOpen && isBounded ? open : text.length
      waiting = text.slice(end)
      done(null, Buffer.from(rewriteTags(text.slice(0, end), place), 'latin1'))
    },
    flush(done) {
      done(null, Buffer.from(waiting, 'latin1'))
    },
  })
}

function rewriteTags(text: string, place: ProxiedPlace): string {
  return text.replaceAll(/<([a-zA-Z]+)(\s[^<>]*)>/g, (whole, element: string, rest: string) => {
    const attributes = linkAttributes[element.toLowerCase()]
    if (attributes === undefined) return whole
    return `<${element}${rest.replaceAll(
      /(\s([a-zA-Z]+)\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g,
      (attribute, start: string, name: string, value: string) => {
        if (!attributes.includes(name.toLowerCase())) return attribute
        const quote = /^["']/.exec(value)?.[0] ?? ''
        const address = quote === '' ? value : value.slice(1, -1)
        return `${start}${quote}${rewriteAddress(address, place)}${quote}`
      },
    )}>`
  })
}
