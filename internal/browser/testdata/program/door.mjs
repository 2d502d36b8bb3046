// The door between a browser and a stack: it serves the page, passes on HTTP and WebSockets, and drops the sockets when a test says so.
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

const CLIENT = new URL('../../../../docs/client/', import.meta.url)
const KINDS = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8' }

/** Opens a door to the stack at url. The address of the socket that the stack tells is replaced by the door's own. */
export async function door(url) {
  const stack = new URL(url)
  const sockets = new Set()
  const server = createServer((request, response) => serve(request, response).catch(error => response.writeHead(502).end(String(error))))
  let shut = false

  async function serve(request, response) {
    const file = /^\/client\/([a-z]+\.(html|js))$/.exec(new URL(request.url, url).pathname)
    if (file) return response.writeHead(200, { 'content-type': KINDS[file[2]] }).end(await readFile(new URL(file[1], CLIENT)))
    const { host, connection, ...headers } = request.headers
    const body = request.method === 'GET' ? undefined : Buffer.concat(await request.toArray())
    const answer = await fetch(new URL(request.url, url), { method: request.method, headers, body })
    const text = (await answer.text()).replaceAll(`ws://${stack.host}`, `ws://${request.headers.host}`)
    const told = Object.fromEntries([...answer.headers].filter(([name]) => !['content-length', 'content-encoding', 'transfer-encoding'].includes(name)))
    response.writeHead(answer.status, told).end(text)
  }

  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    if (shut) return socket.destroy()
    const onward = connect(stack.port, stack.hostname, () => {
      const lines = [`GET ${request.url} HTTP/1.1`]
      for (let i = 0; i < request.rawHeaders.length; i += 2) lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`)
      onward.write(lines.join('\r\n') + '\r\n\r\n')
      onward.write(head)
      socket.pipe(onward).pipe(socket)
    })
    sockets.add(socket)
    onward.on('error', () => socket.destroy())
    onward.on('close', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      onward.destroy()
    })
  })

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Drops every socket; for a while, if given, none is let in. Tells how many there were. */
    drop(ms = 0) {
      const all = [...sockets]
      for (const socket of all) socket.destroy()
      shut = ms > 0
      setTimeout(() => { shut = false }, ms)
      return all.length
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}
