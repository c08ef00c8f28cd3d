// A day of a small shop, with AWS's JavaScript SDK and its document client, every request signed.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ConditionalCheckFailedException, CreateTableCommand, DeleteTableCommand, DescribeTableCommand,
  DynamoDBClient, ListTablesCommand, ResourceNotFoundException, TransactionCanceledException,
  waitUntilTableExists, waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand, BatchWriteCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand,
  paginateQuery, paginateScan, PutCommand, QueryCommand, TransactGetCommand, TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { startServer } from "../../browser/support/server.mjs";

const TableName = "shop";
let folder;
let server;
let owner;
let shop;

const client = (accessKeyId, secretAccessKey) => new DynamoDBClient({
  endpoint: server.url, region: "local", maxAttempts: 1, credentials: { accessKeyId, secretAccessKey },
});

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "stonecrop-shop-"));
  const file = join(folder, "access-keys");
  await writeFile(file, "admin owner his-secret\nread clerk her-secret\n", { mode: 0o600 });
  server = await startServer("--access-key-file", file);
  owner = client("owner", "his-secret");
  shop = DynamoDBDocumentClient.from(owner, { marshallOptions: { removeUndefinedValues: true } });
  await owner.send(new CreateTableCommand({
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: ["customer", "item", "state"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    KeySchema: [
      { AttributeName: "customer", KeyType: "HASH" },
      { AttributeName: "item", KeyType: "RANGE" },
    ],
    GlobalSecondaryIndexes: [{
      IndexName: "by-state",
      KeySchema: [{ AttributeName: "state", KeyType: "HASH" }, { AttributeName: "item", KeyType: "RANGE" }],
      Projection: { ProjectionType: "ALL" },
    }],
  }));
  await waitUntilTableExists({ client: owner, maxWaitTime: 30, minDelay: 1 }, { TableName });
});

after(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const all = async (pages) => {
  const items = [];
  let count = 0;
  for await (const page of pages) {
    items.push(...page.Items);
    count += 1;
  }
  return { items, count };
};

test("what is put is got, whatever its type", async () => {
  const Item = {
    customer: "ann", item: "profile", name: "Ann 🦀", age: 41, paid: 9.99, active: true, phone: null,
    tags: new Set(["a", "b"]), scores: new Set([1, 2]), address: { city: "Bern", lines: ["x", "y"] },
    photo: new Uint8Array([0, 255]),
  };
  await shop.send(new PutCommand({ TableName, Item }));
  const { Item: got } = await shop.send(new GetCommand({ TableName, Key: { customer: "ann", item: "profile" } }));
  assert.deepEqual({ ...got, photo: new Uint8Array(got.photo) }, Item);
});

test("a profile is made once", async () => {
  const put = new PutCommand({
    TableName, Item: { customer: "bob", item: "profile" },
    ConditionExpression: "attribute_not_exists(customer)",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  });
  await shop.send(put);
  await assert.rejects(shop.send(put), (error) => {
    assert.ok(error instanceof ConditionalCheckFailedException);
    assert.equal(error.Item.customer.S ?? error.Item.customer, "bob");
    return true;
  });
});

test("visits are counted", async () => {
  const visit = new UpdateCommand({
    TableName, Key: { customer: "bob", item: "profile" },
    UpdateExpression: "ADD visits :one SET #l = list_append(if_not_exists(#l, :none), :page)",
    ExpressionAttributeNames: { "#l": "log" },
    ExpressionAttributeValues: { ":one": 1, ":none": [], ":page": ["/"] },
    ReturnValues: "ALL_NEW",
  });
  await shop.send(visit);
  const { Attributes } = await shop.send(visit);
  assert.deepEqual([Attributes.visits, Attributes.log], [2, ["/", "/"]]);
});

test("orders come in batches and are read page by page", async () => {
  const orders = Array.from({ length: 25 }, (_, number) => ({
    customer: "cat", item: `order#${String(number).padStart(3, "0")}`, state: number % 5 === 0 ? "open" : "sent",
  }));
  const written = await shop.send(new BatchWriteCommand({
    RequestItems: { [TableName]: orders.map((Item) => ({ PutRequest: { Item } })) },
  }));
  assert.deepEqual(written.UnprocessedItems, {});
  const query = {
    TableName, Limit: 10, KeyConditionExpression: "customer = :c AND begins_with(#i, :o)",
    ExpressionAttributeNames: { "#i": "item" }, ExpressionAttributeValues: { ":c": "cat", ":o": "order#" },
  };
  const { items, count } = await all(paginateQuery({ client: shop }, query));
  assert.deepEqual(items, orders);
  assert.equal(count, 3);
  const scanned = await all(paginateScan({ client: shop, pageSize: 7 }, {
    TableName, FilterExpression: "#s = :s", ExpressionAttributeNames: { "#s": "state" },
    ExpressionAttributeValues: { ":s": "sent" },
  }));
  assert.equal(scanned.items.length, 20);
  const got = await shop.send(new BatchGetCommand({
    RequestItems: { [TableName]: { Keys: [orders[3], orders[7]].map(({ customer, item }) => ({ customer, item })) } },
  }));
  assert.deepEqual(got.Responses[TableName].map(({ item }) => item).sort(), ["order#003", "order#007"]);
});

test("open orders are found by an index, the newest first", async () => {
  const { Items } = await shop.send(new QueryCommand({
    TableName, IndexName: "by-state", ScanIndexForward: false, KeyConditionExpression: "#s = :s",
    ExpressionAttributeNames: { "#s": "state" }, ExpressionAttributeValues: { ":s": "open" },
  }));
  assert.deepEqual(Items.map(({ item }) => item), ["order#020", "order#015", "order#010", "order#005", "order#000"]);
});

test("money moves whole or not at all, and the reasons are told", async () => {
  const purse = (customer, money) => ({ Put: { TableName, Item: { customer, item: "purse", money } } });
  await shop.send(new TransactWriteCommand({ TransactItems: [purse("dan", 10), purse("eve", 0)] }));
  const move = (customer, by, least) => ({
    Update: {
      TableName, Key: { customer, item: "purse" }, UpdateExpression: "ADD money :by",
      ConditionExpression: "money >= :least", ExpressionAttributeValues: { ":by": by, ":least": least },
    },
  });
  await shop.send(new TransactWriteCommand({ TransactItems: [move("dan", -7, 7), move("eve", 7, 0)] }));
  const again = new TransactWriteCommand({ TransactItems: [move("dan", -7, 7), move("eve", 7, 0)] });
  await assert.rejects(shop.send(again), (error) => {
    assert.ok(error instanceof TransactionCanceledException);
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ["ConditionalCheckFailed", "None"]);
    return true;
  });
  const read = await shop.send(new TransactGetCommand({
    TransactItems: ["dan", "eve"].map((customer) => ({ Get: { TableName, Key: { customer, item: "purse" } } })),
  }));
  assert.deepEqual(read.Responses.map(({ Item }) => Item.money), [3, 7]);
});

test("what is deleted is gone, and told once more", async () => {
  const Key = { customer: "fay", item: "profile" };
  await shop.send(new PutCommand({ TableName, Item: { ...Key, name: "Fay" } }));
  const { Attributes } = await shop.send(new DeleteCommand({ TableName, Key, ReturnValues: "ALL_OLD" }));
  assert.equal(Attributes.name, "Fay");
  assert.equal((await shop.send(new GetCommand({ TableName, Key }))).Item, undefined);
});

test("a large answer arrives whole", async () => {
  const Item = { customer: "gus", item: "note", text: "abc ".repeat(20_000) };
  await shop.send(new PutCommand({ TableName, Item }));
  const got = await shop.send(new GetCommand({ TableName, Key: { customer: "gus", item: "note" } }));
  assert.deepEqual(got.Item, Item);
});

test("a clerk may read and not write", async () => {
  const clerk = DynamoDBDocumentClient.from(client("clerk", "her-secret"));
  const Key = { customer: "ann", item: "profile" };
  assert.equal((await clerk.send(new GetCommand({ TableName, Key }))).Item.age, 41);
  await assert.rejects(clerk.send(new DeleteCommand({ TableName, Key })), { name: "AccessDeniedException" });
});

test("who has the wrong secret, or a key that nobody knows, may do nothing", async () => {
  const list = new ListTablesCommand({});
  await assert.rejects(client("owner", "guess").send(list), { name: "InvalidSignatureException" });
  await assert.rejects(client("nobody", "guess").send(list), { name: "UnrecognizedClientException" });
});

test("errors are the SDK's own", async () => {
  const absent = new DescribeTableCommand({ TableName: "no-such-table" });
  await assert.rejects(owner.send(absent), ResourceNotFoundException);
});

test("at the end of the day the table is dropped", async () => {
  const name = "for-a-day";
  await owner.send(new CreateTableCommand({
    TableName: name, BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  }));
  await owner.send(new DeleteTableCommand({ TableName: name }));
  await waitUntilTableNotExists({ client: owner, maxWaitTime: 30, minDelay: 1 }, { TableName: name });
  const { TableNames } = await owner.send(new ListTablesCommand({}));
  assert.ok(!TableNames.includes(name));
});
