// How orval generates its client: plain fetch, for the server that EDITD_URL names.
export default {
  editd: { input: './openapi.yaml', output: { target: './generated/orval.ts', client: 'fetch', baseUrl: process.env.EDITD_URL } }
}
