import { chmodSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { once } from 'node:events'

/**
 * Listens on a Unix socket that only its owner may open. For the owner of the home: what lies in its place is a socket
 * that a process left behind which is gone.
 */
export async function listenPrivately(server: Server, socket: string): Promise<void> {
  rmSync(socket, { force: true })
  server.listen(socket)
  // Rejects when the server says `error` first.
  await once(server, 'listening')
  // Until now the folder alone, mode 0700, kept others out.
  chmodSync(socket, 0o600)
}
