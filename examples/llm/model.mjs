// Writes a small language model with random weights as a GGUF file: the architecture of
// Llama, four layers, a vocabulary of bytes and some words.
//
//	node model.mjs FILE
import fs from "node:fs";

const layers = 4, width = 256, heads = 4, keyHeads = 2, inner = 512;
const headWidth = width / heads;
const words = ["▁", "▁the", "▁a", "▁of", "▁loom", "▁thread", "▁warp", "▁weft", "▁shuttle", "▁cloth", "▁heddle", "▁reed", "▁beam", "▁weave", "▁is", "▁and", "▁one", "▁two", ".", ","];

// The numbers of types of values, tensors and tokens: the GGUF specification.
const U32 = 4, F32 = 6, STRING = 8, ARRAY = 9;
const tensor = { F32: 0, F16: 1, Q4_K: 12 };
const token = { normal: 1, unknown: 2, control: 3, byte: 6 };

// random is Marsaglia's generator xorshift32: the file is the same everywhere.
let state = 2463534242;
function random() {
	state ^= state << 13;
	state ^= state >>> 17;
	state ^= state << 5;
	return (state >>> 0) / 2 ** 32;
}

const u32 = (v) => { const b = Buffer.alloc(4); b.writeUInt32LE(v); return b; };
const u64 = (v) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(v)); return b; };
const f32 = (v) => { const b = Buffer.alloc(4); b.writeFloatLE(v); return b; };
const text = (s) => { const b = Buffer.from(s); return Buffer.concat([u64(b.length), b]); };
const array = (type, items, write) => Buffer.concat([u32(type), u64(items.length), ...items.map(write)]);

// half rounds a number of ordinary size to half precision.
function half(v) {
	const bits = new Uint32Array(new Float32Array([Math.abs(v)]).buffer)[0];
	return (v < 0 ? 0x8000 : 0) | Math.floor(Math.max(0, bits + 0x1000 - (112 << 23)) / 0x2000);
}

// A tensor of single numbers has their spread around a mean.
function singles(n, mean, spread) {
	const b = Buffer.alloc(4 * n);
	for (let i = 0; i < n; i++) b.writeFloatLE(mean + (2 * random() - 1) * spread, 4 * i);
	return b;
}

function halves(n, spread) {
	const b = Buffer.alloc(2 * n);
	for (let i = 0; i < n; i++) b.writeUInt16LE(half((2 * random() - 1) * spread), 2 * i);
	return b;
}

// A block of Q4_K is 256 numbers of 4 bits, after two halves and eight pairs of a scale and
// a minimum of 6 bits: value = half1 * scale * number - half2 * minimum. With equal scales
// and minima, and half2 7.5 times half1, the values lie around zero.
function quantized(n, spread) {
	const b = Buffer.alloc(n / 256 * 144);
	for (let at = 0; at < b.length; at += 144) {
		const d = spread / (7.5 * 63);
		b.writeUInt16LE(half(d), at);
		b.writeUInt16LE(half(7.5 * d), at + 2);
		const s = Array.from({ length: 8 }, () => 32 + Math.floor(random() * 32));
		for (let i = 0; i < 4; i++) { // the upper two bits of the last four scales lie beside the first four
			b[at + 4 + i] = b[at + 8 + i] = s[i] | s[i + 4] >> 4 << 6;
			b[at + 12 + i] = (s[i + 4] & 15) | (s[i + 4] & 15) << 4;
		}
		for (let i = 16; i < 144; i++) b[at + i] = Math.floor(random() * 256);
	}
	return b;
}

const tokens = [["<unk>", token.unknown], ["<s>", token.control], ["</s>", token.control]];
for (let i = 0; i < 256; i++) tokens.push([`<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`, token.byte]);
for (const w of words) tokens.push([w, token.normal]);
for (let c = 97; c < 123; c++) tokens.push([String.fromCharCode(c), token.normal]);

const metadata = [
	["general.architecture", STRING, text("llama")],
	["general.name", STRING, text("random weights")],
	["llama.context_length", U32, u32(512)],
	["llama.embedding_length", U32, u32(width)],
	["llama.block_count", U32, u32(layers)],
	["llama.feed_forward_length", U32, u32(inner)],
	["llama.attention.head_count", U32, u32(heads)],
	["llama.attention.head_count_kv", U32, u32(keyHeads)],
	["llama.attention.layer_norm_rms_epsilon", F32, f32(1e-5)],
	["llama.rope.dimension_count", U32, u32(headWidth)],
	["llama.vocab_size", U32, u32(tokens.length)],
	["tokenizer.ggml.model", STRING, text("llama")],
	["tokenizer.ggml.tokens", ARRAY, array(STRING, tokens, ([s]) => text(s))],
	["tokenizer.ggml.scores", ARRAY, array(F32, tokens, ([s]) => f32(s.length))],
	["tokenizer.ggml.token_type", ARRAY, array(U32 + 1, tokens, ([, t]) => u32(t))], // of signed numbers
	["tokenizer.ggml.unknown_token_id", U32, u32(0)],
	["tokenizer.ggml.bos_token_id", U32, u32(1)],
	["tokenizer.ggml.eos_token_id", U32, u32(2)],
];

const tensors = [];
const norm = (name) => tensors.push([name, [width], tensor.F32, singles(width, 1, 0.1)]);
const spread = (columns) => Math.sqrt(3 / columns); // a product is then as large as its argument
const q4 = (name, columns, rows) => tensors.push([name, [columns, rows], tensor.Q4_K, quantized(columns * rows, spread(columns))]);
const f16 = (name, columns, rows, by = 1) => tensors.push([name, [columns, rows], tensor.F16, halves(columns * rows, by * spread(columns))]);
f16("token_embd.weight", width, tokens.length, Math.sqrt(width));
for (let i = 0; i < layers; i++) {
	norm(`blk.${i}.attn_norm.weight`);
	q4(`blk.${i}.attn_q.weight`, width, width);
	q4(`blk.${i}.attn_k.weight`, width, headWidth * keyHeads);
	q4(`blk.${i}.attn_v.weight`, width, headWidth * keyHeads);
	q4(`blk.${i}.attn_output.weight`, width, width);
	norm(`blk.${i}.ffn_norm.weight`);
	q4(`blk.${i}.ffn_gate.weight`, width, inner);
	q4(`blk.${i}.ffn_up.weight`, width, inner);
	f16(`blk.${i}.ffn_down.weight`, inner, width);
}
norm("output_norm.weight");
// It prefers words to bytes, which would rarely form characters.
const bytes = 259;
tensors.push(["output.weight", [width, tokens.length], tensor.F16, Buffer.concat([halves(width * bytes, spread(width)), halves(width * (tokens.length - bytes), 3 * spread(width))])]);

// Tensors begin at multiples of 32 bytes, the format's default.
const align = (b) => Buffer.concat([b, Buffer.alloc(-b.length & 31)]);
let offset = 0;
const infos = [], data = [];
for (const [name, shape, type, bytes] of tensors) {
	infos.push(text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset));
	data.push(align(bytes));
	offset += data.at(-1).length;
}
const header = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(metadata.length)];
for (const [key, type, value] of metadata) header.push(text(key), u32(type), value);

const file = process.argv[2];
if (!file) {
	console.error("usage: node model.mjs FILE");
	process.exit(2);
}
fs.writeFileSync(file, Buffer.concat([align(Buffer.concat([...header, ...infos])), ...data]));
