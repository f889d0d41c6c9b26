// Listens: at a host and port, on a unix socket that it creates, or on a socket passed to it. Does not know what is
// served there, or how the settings say where.
import type { FastifyInstance, FastifyListenOptions } from 'fastify'
import { once } from 'node:events'
import { lstatSync, unlinkSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import type { Config } from './config/config.ts'
import { codeOf } from './error-code.ts'

/** Where a server listens: an address, or `unix:PATH` or `fd:N`, as the start prints it. */
export type ListenPlace = AddressInfo | string

/** Why it can't listen there, in a sentence for a person. */
export class CantListen extends Error {}

/** The permissions of users who are neither the owner nor in its group. */
const OTHERS = 0o007

const identity = (path: string) => {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return found && { isSocket: found.isSocket(), id: `${found.dev} ${found.ino} ${found.ctimeNs}` }
}

/** The result of an attempt to connect: 'served', or the code of an error. */
async function attempt(path: string): Promise<string> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return 'served'
  } catch (error) {
    return codeOf(error)
  } finally {
    socket.destroy()
  }
}

/**
 * Removes the socket that a killed server has left at a path. Throws CantListen if anything else is there: a socket on
 * which a server listens, or no socket.
 */
export async function clearSocketPath(path: string): Promise<void> {
  const found = identity(path)
  if (found === undefined) return
  if (!found.isSocket) {
    throw new CantListen(`${path} is there already, and is not a socket: name another path with --listen.`)
  }
  const end = await attempt(path)
  if (end === 'served') throw new CantListen(inUse(path))
  if (end !== 'ECONNREFUSED') {
    throw new CantListen(
      `there is a socket at ${path} already, and it can't be seen whether anybody listens on it (${end}): ` +
        'name another path with --listen, or remove it.'
    )
  }
  // Another server may just have put its own socket there.
  if (identity(path)?.id === found.id) unlinkSync(path)
}

const inUse = (path: string) => `another server listens on unix:${path}: name another path with --listen, or stop it.`

/**
 * Makes the app listen where the settings say. Throws CantListen for sockets; for a host and port, the system's error.
 */
export async function listen(
  app: FastifyInstance,
  { listen, host, port }: Pick<Config, 'listen' | 'host' | 'port'>
): Promise<ListenPlace> {
  if (listen === null) {
    // `localhost` may be two addresses, which would be two servers.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
    return app.server.address() as AddressInfo
  }
  if ('fd' in listen) return listenOnHanded(app, listen.fd)
  // Connecting needs write permission.
  const umask = process.umask(OTHERS)
  process.umask(umask | OTHERS)
  try {
    await app.listen({ path: listen.path })
  } catch (error) {
    const code = codeOf(error)
    throw new CantListen(
      code === 'EADDRINUSE'
        ? inUse(listen.path)
        : `can't make the socket unix:${listen.path} (${code}): ` +
            'its folder has to exist, and this user needs the right to write there.'
    )
  } finally {
    process.umask(umask)
  }
  return `unix:${listen.path}`
}

async function listenOnHanded(app: FastifyInstance, fd: number): Promise<ListenPlace> {
  const { server } = app
  // Fastify asks for the path of a unix socket, and Node doesn't know it for a socket that was passed.
  const address = server.address.bind(server)
  server.address = () => address() ?? `fd:${fd}`
  const options: FastifyListenOptions & { fd: number } = { fd, host: '127.0.0.1' }
  try {
    await app.listen(options)
  } catch (error) {
    throw new CantListen(`can't listen on fd:${fd} (${codeOf(error)}): it has to be a stream socket, not a connection.`)
  }
  return server.address() as ListenPlace
}
